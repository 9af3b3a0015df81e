package replay

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Answer is one answer of a file.
type Answer struct {
	Head  []byte // status line and headers, with the blank line behind them
	Steps []Step
	How   Framing
}

// Framing is how the body is put on the wire.
type Framing int

// The framings, as the head asks for them.
const (
	UntilClose Framing = iota // neither length nor chunks: the end of the connection ends the body
	Counted                   // Content-Length, true or not
	Chunked                   // Transfer-Encoding: chunked; each piece written is a chunk
	Verbatim                  // "Replay: verbatim": the file holds the framing too
)

// Step is a part of an answer: bytes, then what to do.
type Step struct {
	Bytes []byte
	Pause time.Duration // before the bytes
	Then  string        // "", "reset", "close" or "hang"
}

// marker begins a line that is not sent but obeyed.
const marker = "@@ "

// Read reads a file; see the package for its form.
func Read(path string) ([]Answer, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var answers []Answer
	for {
		own, rest, more := bytes.Cut(raw, []byte(marker+"answer\n"))
		a, err := parse(own)
		if err != nil {
			return nil, fmt.Errorf("%s, answer %d: %w", path, len(answers)+1, err)
		}
		answers = append(answers, a)
		if !more {
			return answers, nil
		}
		raw = rest
	}
}

// parse reads one answer.
func parse(raw []byte) (Answer, error) {
	var a Answer
	if bytes.HasPrefix(raw, []byte(marker)) { // an answer may end before it has begun
		steps, err := steps(raw)
		return Answer{Steps: steps, How: Verbatim}, err
	}
	var packed bool
	for {
		line, rest, ok := bytes.Cut(raw, []byte("\n"))
		if !ok {
			return a, errors.New("there is no blank line behind the headers")
		}
		raw, line = rest, bytes.TrimSuffix(line, []byte("\r"))
		if string(line) == "Replay: verbatim" {
			a.How = Verbatim
			continue
		}
		if string(line) == "Replay: gzip" {
			packed = true
			continue
		}
		a.Head = append(append(a.Head, line...), "\r\n"...)
		if len(line) == 0 {
			break
		}
		name, value, _ := strings.Cut(strings.ToLower(string(line)), ":")
		switch {
		case a.How == Verbatim:
		case name == "content-length":
			a.How = Counted
		case name == "transfer-encoding" && strings.TrimSpace(value) == "chunked":
			a.How = Chunked
		}
	}
	var err error
	if a.Steps, err = steps(raw); err == nil && packed {
		a.Steps, err = pack(a.Steps)
	}
	return a, err
}

// steps reads a body with its marked lines.
func steps(raw []byte) ([]Step, error) {
	var out []Step
	var own []byte
	var pause time.Duration
	flush := func(then string) {
		out = append(out, Step{Bytes: own, Pause: pause, Then: then})
		own, pause = nil, 0
	}
	for len(raw) > 0 {
		line, rest, _ := bytes.Cut(raw, []byte("\n"))
		order, ok := bytes.CutPrefix(line, []byte(marker))
		if !ok {
			own = append(own, raw[:len(raw)-len(rest)]...)
			raw = rest
			continue
		}
		raw = rest
		word, value, _ := strings.Cut(strings.TrimSuffix(string(order), "\r"), " ")
		switch word {
		case "reset", "close", "hang":
			flush(word)
		case "pause":
			flush("")
			d, err := time.ParseDuration(value)
			if err != nil {
				return nil, err
			}
			pause = d
		case "cut", "fill":
			own = bytes.TrimSuffix(bytes.TrimSuffix(own, []byte("\n")), []byte("\r"))
			if word == "cut" {
				flush("")
				continue
			}
			count, text, _ := strings.Cut(value, " ")
			n, err := strconv.Atoi(count)
			if err != nil {
				return nil, err
			}
			own = append(own, strings.Repeat(text, n)...)
		case "repeat":
			n, err := strconv.Atoi(value)
			if err != nil {
				return nil, err
			}
			block, after, ok := bytes.Cut(raw, []byte(marker+"end\n"))
			if !ok {
				return nil, errors.New("a repeat without end")
			}
			own, raw = append(own, bytes.Repeat(block, n)...), after
		default:
			return nil, fmt.Errorf("%q is not known", line)
		}
	}
	if len(own) > 0 || pause > 0 {
		flush("")
	}
	return out, nil
}

// pack compresses the body, flushing at each step.
func pack(list []Step) ([]Step, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	for i := range list {
		_, err := w.Write(list[i].Bytes)
		if err = errors.Join(err, w.Flush()); err != nil {
			return nil, err
		}
		if i == len(list)-1 && list[i].Then == "" {
			if err := w.Close(); err != nil {
				return nil, err
			}
		}
		list[i].Bytes = bytes.Clone(b.Bytes())
		b.Reset()
	}
	return list, nil
}
