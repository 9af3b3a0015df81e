package app

import "errors"

// errNotYet is what a method returns that has not been written yet.
var errNotYet = errors.New("this part of Steward has not been built yet")
