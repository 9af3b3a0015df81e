// Package chat is the place where a person talks with a model: the conversation's messages, its tool calls, what waits
// in it, and the composer.
//
// What a conversation shows is worked out by presenter, which knows nothing of the window: stored messages and events
// go in, rows come out, and each round of changes names the rows it touched. The rest draws those rows.
//
// Everything here belongs to Fyne's goroutine, unless it says otherwise.
package chat
