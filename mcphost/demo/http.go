package demo

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	path           = "/mcp"
	maxBody        = 1 << 20 // of one request, in bytes
	maxHeader      = 32 << 10
	idleSession    = 30 * time.Minute
	stopGrace      = 2 * time.Second
	firstStateless = "2026-07-28" // the first protocol revision without sessions
)

// HTTP serves the demo over Streamable HTTP at addr, "host:port" or a port alone, until
// ctx ends. Only loopback addresses are allowed; port 0 takes a free one. When it
// listens it calls announce, once and from this goroutine, with the server's URL and
// the token every request must carry as "Authorization: Bearer TOKEN". The token is
// random and lives as long as the server. HTTP returns nil after ctx ended and all
// connections are closed, which takes at most a few seconds.
//
// Against web pages that try to reach it, requests with a foreign Host or Origin are
// refused (MCP basic/transports, security warning; DNS rebinding).
func HTTP(ctx context.Context, addr string, announce func(url, token string)) error {
	address, err := loopback(addr)
	if err != nil {
		return err
	}
	token, err := newToken()
	if err != nil {
		return err
	}
	s, err := newServer(time.Now)
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("the demo server cannot listen at %s: %w", address, err)
	}
	web := &http.Server{
		Handler:           s.guard(l.Addr().String(), token),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(io.Discard, "", 0), // what clients do wrong is told to them
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(l) }()
	announce("http://"+l.Addr().String()+path, token)
	select {
	case err = <-served:
		return fmt.Errorf("the demo server stopped: %w", err)
	case <-ctx.Done():
	}
	s.stop(web)
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("the demo server stopped: %w", err)
	}
	return nil
}

// stop ends sessions, whose streams would keep connections open, then connections.
func (s *server) stop(web *http.Server) {
	for session := range s.mcp.Sessions() {
		// A session that is closed already needs nothing more.
		_ = session.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	if err := web.Shutdown(ctx); err != nil {
		// Whoever is still there after the grace is cut off; that is all Close can do.
		_ = web.Close()
	}
}

// loopback checks that an address is on this machine alone.
func loopback(addr string) (string, error) {
	if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
		addr = "127.0.0.1:" + addr
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("%q is not an address to listen at; write it as 127.0.0.1:PORT", addr)
	}
	if strings.EqualFold(host, "localhost") {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.Unmap().IsLoopback() {
		return "", fmt.Errorf("the demo server listens on this machine alone (127.0.0.1, [::1] or localhost), not at %q; write the address as 127.0.0.1:PORT", addr)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("%q is not a port; use a number from 0 to 65535, 0 for any free one", port)
	} else {
		port = strconv.FormatUint(n, 10)
	}
	return net.JoinHostPort(host, port), nil
}

func newToken() (string, error) {
	b := make([]byte, 32)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("no random numbers for the demo server's token: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// guard lets through what comes from this machine with the token, and gives it to the
// handler of its protocol era: the SDK serves sessions and the stateless protocol with
// one each.
func (s *server) guard(listening, token string) http.Handler {
	get := func(*http.Request) *mcp.Server { return s.mcp }
	sessions := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{MaxRequestBodyBytes: maxBody, SessionTimeout: idleSession})
	stateless := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{MaxRequestBodyBytes: maxBody, Stateless: true, PropagateRequestCancellation: true})
	_, port, _ := net.SplitHostPort(listening) // the listener's own address is well-formed
	hosts := map[string]bool{listening: true}
	for _, h := range []string{"127.0.0.1", "localhost", "::1"} {
		hosts[net.JoinHostPort(h, port)] = true
	}
	want := []byte("Bearer " + token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if !hosts[strings.ToLower(r.Host)] {
			http.Error(w, "This server answers only to requests for its own address.", http.StatusForbidden)
			return
		}
		for _, origin := range r.Header.Values("Origin") {
			if from, ok := strings.CutPrefix(strings.ToLower(origin), "http://"); !ok || !hosts[from] {
				http.Error(w, "This server answers no requests from web pages of other addresses.", http.StatusForbidden)
				return
			}
		}
		if r.URL.Path != path {
			http.Error(w, "The demo server is at "+path+".", http.StatusNotFound)
			return
		}
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="steward-demo"`)
			http.Error(w, "Every request needs the header \"Authorization: Bearer TOKEN\" with the token the server printed when it started.", http.StatusUnauthorized)
			return
		}
		if r.Header.Get("Mcp-Protocol-Version") >= firstStateless {
			stateless.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	})
}
