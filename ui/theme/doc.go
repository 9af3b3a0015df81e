// Package theme is how Steward looks: colours, sizes, fonts and icons, light and dark.
//
// Everything here may be called from any goroutine; what it returns is shared and never changes.
package theme
