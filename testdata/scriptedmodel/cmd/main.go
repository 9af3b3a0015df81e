// Command cmd runs the scripted model endpoint by itself.
//
//	go run ./testdata/scriptedmodel/cmd -script FILE
//	go run ./testdata/scriptedmodel/cmd -calls 50 -tool echo -arguments '{"message":"{{n}}"}'
//
// It prints its base URL on the first line of stdout and runs until it is
// interrupted or its stdin is closed (-stdin).
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	"steward/testdata/scriptedmodel"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "scriptedmodel:", err)
		os.Exit(1)
	}
}

func run() error {
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on")
	file := flag.String("script", "", "script (JSON)")
	calls := flag.Int("calls", 0, "without a script: call the tool this many times, one call a round")
	tool := flag.String("tool", "echo", "name of the tool, or its part after \"__\"")
	arguments := flag.String("arguments", `{"message":"{{n}}"}`, "arguments of each call")
	strict := flag.Bool("strict", false, "refuse what a strict provider refuses")
	rules := flag.String("rules", "", "with -strict: the provider whose rules count, named as an endpoint profile")
	record := flag.String("record", "", "append each request to this file (JSON lines: time, path, body)")
	stdin := flag.Bool("stdin", false, "end when stdin is closed")
	flag.Parse()

	var script scriptedmodel.Script
	if *file != "" {
		b, err := os.ReadFile(*file)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(b, &script); err != nil {
			return fmt.Errorf("reading %s: %w", *file, err)
		}
	} else {
		script.Rounds = &scriptedmodel.Rounds{N: *calls, Tool: *tool, Arguments: json.RawMessage(*arguments)}
	}
	script.Strict = script.Strict || *strict
	script.Rules = cmp.Or(*rules, script.Rules)
	s, err := scriptedmodel.Listen(*addr, script)
	if err != nil {
		return err
	}
	defer s.Close()
	if *record != "" {
		f, err := os.OpenFile(*record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		recordTo(s, f)
	}
	fmt.Println(s.URL())
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	closed := make(chan error, 1)
	if *stdin {
		go func() { // ends with the process
			_, err := io.Copy(io.Discard, os.Stdin)
			closed <- err
		}()
	}
	select {
	case <-stop:
		return nil
	case err := <-closed:
		return err
	}
}

// recordTo writes a line a request: its time, path and body.
func recordTo(s *scriptedmodel.Server, f io.Writer) {
	var mu sync.Mutex
	s.OnRequest(func(r scriptedmodel.Request) {
		body := json.RawMessage(r.Body)
		if !json.Valid(r.Body) {
			body, _ = json.Marshal(string(r.Body)) // a string always has a JSON form
		}
		line, err := json.Marshal(map[string]any{"time": r.Time.Format(time.RFC3339Nano), "path": r.Path, "body": body})
		mu.Lock()
		defer mu.Unlock()
		if _, werr := f.Write(append(line, '\n')); errors.Join(err, werr) != nil {
			fmt.Fprintln(os.Stderr, "scriptedmodel: recording a request:", errors.Join(err, werr))
		}
	})
}
