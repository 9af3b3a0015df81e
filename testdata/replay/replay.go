// Package replay is a model endpoint that answers byte for byte what stands in small files: what endpoints were seen to
// send, and what others of the kind could.
//
// A file NAME.http holds an answer as it goes over the wire: the status line, headers, a blank line, and the body. Line
// ends of the head may be LF, those of the body are sent as they are. "Transfer-Encoding: chunked" and "Content-Length"
// in the head decide how the body is framed; without them the connection ends with it. Two headers are not sent:
// "Replay: gzip" compresses the body, and "Replay: verbatim" leaves the framing to the file. A line of the body that
// begins with "@@ " is not sent but obeyed:
//
//	@@ pause 20ms   wait
//	@@ cut          end the piece here, without the line end before
//	@@ fill N TEXT  send TEXT N times, without the line ends around
//	@@ repeat N     send the lines down to "@@ end" N times
//	@@ close        end the connection here, whatever the framing promised
//	@@ reset        reset it
//	@@ hang         send nothing more until the client goes
//	@@ answer       another answer, for the next request; the last one is given again and again
//
// What must come of an answer stands beside it, in NAME.want; the tests of llm read that.
package replay

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Server is a running endpoint. It may be used from any goroutine.
type Server struct {
	files    map[string][]Answer
	piece    func() int
	listener net.Listener
	quit     chan struct{}
	running  sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	asked map[string]int
}

// Serve answers on addr ("127.0.0.1:0" for any free port) with the files below root. piece says how many bytes go out
// at once; nil sends what belongs together at once. It is called from several goroutines.
func Serve(addr, root string, piece func() int) (*Server, error) {
	s := &Server{files: map[string][]Answer{}, piece: piece, quit: make(chan struct{}), conns: map[net.Conn]struct{}{}, asked: map[string]int{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".http" {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err == nil {
			name = filepath.ToSlash(strings.TrimSuffix(name, ".http"))
			s.files[name], err = Read(path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.listener, err = net.Listen("tcp", addr); err != nil {
		return nil, err
	}
	s.running.Go(s.accept)
	return s, nil
}

// Names are the names of the files, without order.
func (s *Server) Names() []string {
	out := make([]string, 0, len(s.files))
	for name := range s.files {
		out = append(out, name)
	}
	return out
}

// URL is the base URL of the endpoint that answers with a file.
func (s *Server) URL(name string) string {
	return "http://" + s.listener.Addr().String() + "/" + name + "/v1"
}

// Asked is how many requests a file has answered.
func (s *Server) Asked(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[name]
}

// Close ends the endpoint and every answer in progress.
func (s *Server) Close() {
	close(s.quit)
	_ = s.listener.Close() // it ends all the same
	s.mu.Lock()
	for c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return // closed
		}
		s.mu.Lock()
		s.conns[conn] = struct{}{}
		s.mu.Unlock()
		s.running.Go(func() {
			s.serve(conn)
			_ = conn.Close()
			s.mu.Lock()
			delete(s.conns, conn)
			s.mu.Unlock()
		})
		select {
		case <-s.quit: // Close may not have seen this one
			_ = conn.Close()
		default:
		}
	}
}

// serve answers the requests of one connection.
func (s *Server) serve(conn net.Conn) {
	in := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return // the client is gone
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		if !s.reply(conn, in, req) {
			return
		}
	}
}

// reply answers a request and tells whether the connection can take another one.
func (s *Server) reply(conn net.Conn, in io.Reader, req *http.Request) bool {
	name := strings.TrimPrefix(req.URL.Path, "/")
	if name, ok := strings.CutSuffix(name, "/v1/models"); ok && s.files[name] != nil {
		const list = `{"object":"list","data":[{"id":"m","object":"model"}]}`
		_, err := fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(list), list)
		return err == nil
	}
	name, ok := strings.CutSuffix(name, "/v1/chat/completions")
	answers := s.files[name]
	if !ok || len(answers) == 0 {
		_, _ = io.WriteString(conn, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
		return false
	}
	s.mu.Lock()
	a := answers[min(s.asked[name], len(answers)-1)]
	s.asked[name]++
	s.mu.Unlock()
	return s.play(conn, in, a) == nil
}

var errEnd = errors.New("the connection ends here")

// play sends an answer.
func (s *Server) play(conn net.Conn, in io.Reader, a Answer) error {
	if _, err := conn.Write(a.Head); err != nil {
		return err
	}
	for _, step := range a.Steps {
		if !s.wait(step.Pause) {
			return errEnd
		}
		piece := s.piece
		if a.resets() {
			piece = nil // what is still on its way when a connection is reset is lost
		}
		if err := send(conn, a.How, step.Bytes, piece); err != nil {
			return err
		}
		switch step.Then {
		case "reset":
			if tcp, ok := conn.(*net.TCPConn); ok {
				return errors.Join(errEnd, tcp.SetLinger(0))
			}
			return errEnd
		case "close":
			return errEnd
		case "hang":
			_, _ = io.Copy(io.Discard, in) // ends when the client goes, or with Close
			return errEnd
		}
	}
	switch a.How {
	case Chunked:
		_, err := io.WriteString(conn, "0\r\n\r\n")
		return err
	case Counted:
		return nil
	}
	return errEnd
}

func (s *Server) wait(d time.Duration) bool {
	if d == 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.quit:
		return false
	}
}

// resets tells whether the answer ends with a reset.
func (a Answer) resets() bool {
	return len(a.Steps) > 0 && a.Steps[len(a.Steps)-1].Then == "reset"
}

// send writes bytes in pieces.
func send(conn net.Conn, how Framing, b []byte, piece func() int) error {
	for len(b) > 0 {
		n := len(b)
		if piece != nil {
			n = min(n, max(1, piece()))
		}
		out := b[:n]
		if how == Chunked {
			out = append(fmt.Appendf(nil, "%x\r\n", n), out...)
			out = append(out, "\r\n"...)
		}
		if _, err := conn.Write(out); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
