// Package settings is the place in which a person says how the program behaves: models and their keys, permissions,
// limits, appearance, where secrets are kept, and what the program is made of.
//
// It belongs to Fyne's goroutine; asking the program, endpoints and the keyring does not happen there.
package settings
