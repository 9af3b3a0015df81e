package scriptedserver

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// running is one request that is served by steps.
type running struct {
	s      *Server
	m      message
	n      int
	mark   int
	answer string
	asked  string
}

// together counts the tool calls that this program works on, in all its sessions.
var together struct {
	sync.Mutex
	now, most int
}

func called(n int) {
	together.Lock()
	defer together.Unlock()
	together.now += n
	together.most = max(together.most, together.now)
}

func (r *running) run(steps []string) {
	if r.m.Method == "tools/call" {
		called(1)
		defer called(-1)
	}
	for _, step := range steps {
		if err := r.step(step); err != nil {
			fmt.Fprintf(r.s.err, "scriptedserver: step %q: %v\n", step, err)
			r.s.exit(2)
		}
	}
}

// expand fills in what a step refers to.
func (r *running) expand(step string) string {
	if !strings.Contains(step, "${") {
		return step
	}
	var p struct {
		Arguments json.RawMessage
		Meta      struct{ ProgressToken json.RawMessage } `json:"_meta"`
	}
	// Params without these members leave them empty.
	_ = json.Unmarshal(r.m.Params, &p)
	return strings.NewReplacer("${id}", string(r.m.ID), "${token}", string(p.Meta.ProgressToken), "${arguments}", string(p.Arguments),
		"${answer}", r.answer, "${n}", strconv.Itoa(r.n), "${together}", strconv.Itoa(mostTogether())).Replace(step)
}

func mostTogether() int {
	together.Lock()
	defer together.Unlock()
	return together.most
}

func (r *running) step(step string) error {
	step = r.expand(step)
	if !strings.HasPrefix(step, "@") {
		r.s.line(step)
		return nil
	}
	verb, rest, _ := strings.Cut(step[1:], " ")
	word, tail, _ := strings.Cut(rest, " ")
	switch verb {
	case "sleep":
		d, err := time.ParseDuration(word)
		time.Sleep(d)
		return err
	case "raw":
		r.s.write(rest)
	case "stderr":
		fmt.Fprintln(r.s.err, rest)
	case "flood":
		n, err := strconv.Atoi(word)
		if err != nil {
			return err
		}
		_, err = r.s.err.Write([]byte(strings.Repeat("x", n)))
		return err
	case "exit":
		code, err := strconv.Atoi(word)
		if err != nil {
			return err
		}
		r.s.exit(code)
	case "kill":
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		return self.Kill()
	case "close-stdout":
		return os.Stdout.Close()
	case "stop-reading":
		r.s.mu.Lock()
		r.s.deaf = true
		r.s.mu.Unlock()
	case "repeat":
		n, err := strconv.Atoi(word)
		for i := 0; i < n && err == nil; i++ {
			err = r.step(tail)
		}
		return err
	case "gather":
		n, err := strconv.Atoi(word)
		for end := time.Now().Add(20 * time.Second); err == nil && mostTogether() < n && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		return err
	case "mark":
		r.s.mu.Lock()
		r.mark = len(r.s.seen)
		r.s.mu.Unlock()
	case "wait":
		r.wait(word)
	case "add", "remove", "describe":
		r.change(verb, word, tail)
	default:
		return r.talk(verb, rest, word, tail)
	}
	return nil
}

// talk takes the steps that send messages.
func (r *running) talk(verb, rest, word, tail string) error {
	switch verb {
	case "ask":
		select {
		case answer := <-r.ask(word, tail):
			r.answer = string(answer)
		case <-r.s.done:
		}
	case "ask-only":
		r.ask(word, tail)
	case "cancel":
		r.s.line(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + r.asked + `}}`)
	case "notify":
		if tail == "" {
			tail = "{}"
		}
		r.s.line(`{"jsonrpc":"2.0","method":` + quote(word) + `,"params":` + tail + `}`)
	case "progress":
		return r.progress(word, tail)
	case "text":
		r.s.text(r.m, rest)
	case "result":
		r.s.result(r.m, rest)
	case "error":
		code, err := strconv.Atoi(word)
		r.s.failure(r.m, code, tail)
		return err
	case "big":
		n, err := strconv.Atoi(word)
		if err != nil {
			return err
		}
		r.s.text(r.m, strings.Repeat("b", n))
	case "usual":
		r.s.usual(r.m)
	default:
		return fmt.Errorf("there is no step @%s", verb)
	}
	return nil
}

// wait waits until a message with the method has come since the mark.
func (r *running) wait(method string) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for !r.s.closed && !slices.Contains(r.s.seen[r.mark:], method) {
		r.s.arrived.Wait()
	}
}

func (r *running) change(verb, name, text string) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	at := slices.IndexFunc(r.s.tools, func(t tool) bool { return t.name == name })
	switch {
	case verb == "add":
		r.s.tools = append(r.s.tools, entry(name, ""))
	case at < 0:
	case verb == "remove":
		r.s.tools = slices.Delete(slices.Clone(r.s.tools), at, at+1)
	default:
		r.s.tools = slices.Clone(r.s.tools)
		r.s.tools[at] = entry(name, text)
	}
}

// ask sends a request to the host.
func (r *running) ask(method, params string) chan json.RawMessage {
	if params == "" {
		params = "{}"
	}
	c := make(chan json.RawMessage, 1)
	r.s.mu.Lock()
	r.s.asked++
	r.asked = strconv.Itoa(r.s.asked)
	r.s.answers[r.asked] = c
	r.s.mu.Unlock()
	r.s.line(`{"jsonrpc":"2.0","id":` + r.asked + `,"method":` + quote(method) + `,"params":` + params + `}`)
	return c
}

func (r *running) progress(count, pause string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(pause)
	for i := 1; i <= n && err == nil; i++ {
		r.s.line(r.expand(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":%d,"total":%d,"message":"step %d"}}`, i, n, i)))
		time.Sleep(d)
	}
	return err
}
