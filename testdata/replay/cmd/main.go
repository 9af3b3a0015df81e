// Command cmd serves the files below a folder as model endpoints until it is interrupted:
//
//	go run ./testdata/replay/cmd testdata/replay
//
// and writes the base URL of each to standard output.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"slices"

	"steward/testdata/replay"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "Name the folder with the answers, for example testdata/replay, and, if it matters, an address such as 127.0.0.1:8080.")
		os.Exit(2)
	}
	addr := "127.0.0.1:0"
	if len(os.Args) > 2 {
		addr = os.Args[2]
	}
	s, err := replay.Serve(addr, os.Args[1], nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, "The answers cannot be served:", err)
		os.Exit(1)
	}
	defer s.Close()
	names := s.Names()
	slices.Sort(names)
	for _, name := range names {
		fmt.Println(s.URL(name))
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	<-stop
}
