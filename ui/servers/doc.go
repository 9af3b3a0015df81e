// Package servers is the place of the window where MCP servers are looked after: what each is and offers, what changed
// since a person reviewed it, its log and its messages on the wire, and a bench on which a tool runs without a model.
//
// The presenter holds what is known and asks app for it; it knows no widget. Everything else draws. Text of servers
// reaches the screen through ui/text, ui/code and ui/form alone. Everything belongs to Fyne's goroutine, except where
// Deps.Go runs it.
package servers
