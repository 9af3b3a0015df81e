// Package form asks a person for values: a neutral description of fields ([Field]) becomes a [Form] with a control,
// help and an inline complaint for each, and JSON values come out. It knows neither protocol nor store.
//
// [Entry] is the text input of the whole program: with it, Enter that confirms a candidate of an input method never
// sends anything, and a big paste never freezes the window.
//
// Titles, descriptions and choices are other people's words. They are drawn by the text factory handed to [New], never
// by widgets that read markup. Everything here belongs to Fyne's goroutine, except [Field] and what it holds.
package form
