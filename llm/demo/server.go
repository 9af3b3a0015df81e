// Package demo is the demo model: a handful of fixed rules behind a real
// endpoint on this machine that speaks the OpenAI chat completions format. It
// lets a person try everything without an account, a key or a network. It says
// that it is a demo, and what it says depends on nothing but the request and,
// where a week is meant and not named, today's date.
package demo

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// modelName is the one model the endpoint has.
const modelName = "steward-demo"

const maxRequest = 64 << 20 // bytes

// Server is a running demo model. Its methods may be called from any goroutine.
type Server struct {
	token    string
	listener net.Listener
	http     *http.Server
	served   chan struct{}
	release  func() bool
	once     sync.Once
	err      error
	now      func() time.Time
}

// Serve starts the demo model on a free port of the loopback interface. It runs
// until Close, or until ctx ends.
func Serve(ctx context.Context) (*Server, error) { return serve(ctx, time.Now) }

func serve(ctx context.Context, now func() time.Time) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the demo model could not open a port on this machine: %w", err)
	}
	s := &Server{token: rand.Text(), listener: l, served: make(chan struct{}), now: now}
	s.http = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.served)
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.err = err
		}
	}()
	s.release = context.AfterFunc(ctx, func() { _ = s.http.Close() }) // Close reports the error
	return s, nil
}

// BaseURL is the address for a client; it ends in /v1.
func (s *Server) BaseURL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// Token is the API key the endpoint wants. It is new at each start.
func (s *Server) Token() string { return s.token }

// Model is the model's name, "steward-demo".
func (s *Server) Model() string { return modelName }

// Close ends the endpoint and answers in progress, and waits for it.
func (s *Server) Close() error {
	s.once.Do(func() {
		s.release()
		err := s.http.Close()
		<-s.served // behind it nobody else writes s.err
		s.err = errors.Join(s.err, err)
	})
	return s.err
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "The demo model has no "+r.Method+" "+r.URL.Path+".", "invalid_request_error")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if subtle.ConstantTimeCompare([]byte(given), []byte(s.token)) != 1 {
			refuse(w, http.StatusUnauthorized, "The key of the demo model is wrong or missing.", "authentication_error")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func refuse(w http.ResponseWriter, status int, message, kind string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	send(w, map[string]any{"error": map[string]any{"message": message, "type": kind}})
}

// send writes JSON. A client that is gone cannot be told.
func send(w io.Writer, v any) {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	send(w, map[string]any{"object": "list", "data": []any{map[string]any{"id": modelName, "object": "model", "owned_by": "steward"}}})
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, "The request is too large for the demo model.", "invalid_request_error")
		return
	}
	var req request
	if err := json.Unmarshal(body, &req); err != nil {
		refuse(w, http.StatusBadRequest, "The request is not what chat completions look like: "+err.Error(), "invalid_request_error")
		return
	}
	if req.Model != modelName {
		refuse(w, http.StatusNotFound, fmt.Sprintf("There is no model %q here; the demo model is called %s.", req.Model, modelName), "invalid_request_error")
		return
	}
	if len(req.Messages) == 0 {
		refuse(w, http.StatusBadRequest, "The request has no messages.", "invalid_request_error")
		return
	}
	a := answer(&req, s.now())
	a.limit(max(req.MaxTokens, req.MaxCompletionTokens))
	if req.Stream {
		a.stream(w, len(body)/4)
	} else {
		w.Header().Set("Content-Type", "application/json")
		send(w, a.object(len(body)/4))
	}
}
