// Package waiting shows what waits for the person: tool calls that want a yes, forms and addresses of servers, and
// servers' requests to the model. A Card shows one of them, in a chat as well as in the Place that lists all.
//
// What a card says of an item, what may be answered and when, is decided in files that know no widget (approval.go,
// ending.go, …); the widgets draw it. Everything here belongs to Fyne's goroutine.
package waiting
