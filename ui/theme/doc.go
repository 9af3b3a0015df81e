// Package theme is how Steward looks: colours, sizes, fonts and icons, light and dark.
package theme


