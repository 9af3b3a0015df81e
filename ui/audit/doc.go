// Package audit is the place over the record: a table of every call and question, filters, what is kept of one of them,
// another run with changed arguments, export, and the proof that nothing was changed.
//
// It belongs to Fyne's goroutine; reading the record and working its texts out does not happen there.
package audit
