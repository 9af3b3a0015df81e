// Command idle is a host that does nothing, against which the count of the conformance suite is tried.
package main

func main() {}
