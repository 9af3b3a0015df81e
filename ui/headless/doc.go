// Package headless is Steward without a window: the commands, the JSON shapes and
// the exit statuses that scripts rely on, and the questions a person answers in a terminal.
//
// It holds no knowledge of its own about servers, models or the record: it parses
// a command line, calls package app, and renders what app hands out.
package headless
