// Command cmd runs the scripted MCP server on standard input and output.
package main

import (
	"os"

	"steward/testdata/scriptedserver"
)

func main() { os.Exit(scriptedserver.Main(os.Args[1:])) }
