// Package list is Steward's own virtual list, and a table over it.
//
// [New] makes a list of rows with different heights (a conversation, the side bar), [NewEqual] one whose rows are all
// equally high (log lines, a million records), [NewTable] puts a head and columns on the latter. Rows exist only while
// they are near the viewport. Positions are kept in float64 and heights in whole 1/64 pixels, so that sums of them are
// exact; what reaches Fyne is relative to the viewport and small.
//
// The list never loses the person's place: what is at the top of the viewport stays there when rows above it turn out
// taller than thought, when rows come and go, and when the width changes.
//
// Everything here belongs to Fyne's goroutine.
package list
