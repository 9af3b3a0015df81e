package mcphost_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

// certified is a server over https with a certificate of its own making, and the PEM file that makes it trusted.
func certified(t *testing.T, change func(*x509.Certificate)) (*web, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Company"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &web{Server: nil}
	s.Server = httptest.NewUnstartedServer(s)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.Config.ErrorLog = quiet
	s.StartTLS()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s, file
}

// refused connects and wants a start that fails.
func refused(t *testing.T, cfg mcphost.ServerConfig) string {
	t.Helper()
	h, _ := trial.Host(t, mcphost.Options{})
	_, err := h.Connect(t.Context(), cfg)
	var se *mcphost.StartError
	if !errors.As(err, &se) {
		t.Fatalf("err = %v", err)
	}
	return err.Error()
}

// TestCertificates checks that a certificate that is not right is never accepted, that the error says what is wrong with
// it, and that a company's own can be trusted.
func TestCertificates(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*x509.Certificate)
		trust  bool
		want   []string // nothing where it is right
	}{
		{"unknown authority", nil, false, []string{"issued by an authority that this computer does not know", "caFile"}},
		{"known authority", nil, true, nil},
		{"expired", func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }, true, []string{"has expired", "date of this computer"}},
		{"not yet", func(c *x509.Certificate) { c.NotBefore = time.Now().Add(30 * time.Minute) }, true, []string{"not valid yet"}},
		{"another name", func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"other.example"} }, true, []string{"another name", "other.example"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, file := certified(t, tt.change)
			cfg := config(s)
			if tt.trust {
				cfg.CAFile = file
			}
			if tt.want == nil {
				h, _ := trial.Host(t, mcphost.Options{})
				if r := callEcho(t, trial.Connect(t, h, cfg), "echo"); r.Outcome != send.OK {
					t.Errorf("%s: %s", r.Outcome, r.Reason)
				}
				return
			}
			got := refused(t, cfg)
			for _, want := range append(tt.want, "cannot be trusted") {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in: %s", want, got)
				}
			}
			if n := s.count("POST initialize") + s.count("POST server/discover"); n != 0 {
				t.Errorf("%d requests were sent", n)
			}
		})
	}
}

// TestNoWayDownToHTTP has a server over https send requests on to http on the same host.
func TestNoWayDownToHTTP(t *testing.T) {
	t.Parallel()
	plain := newWeb(t, nil, nil)
	s, file := certified(t, nil)
	s.mu.Lock()
	s.rpc = func(w http.ResponseWriter, _ *http.Request, _ message) bool {
		w.Header().Set("Location", plain.URL+"/mcp")
		w.WriteHeader(http.StatusTemporaryRedirect)
		return true
	}
	s.mu.Unlock()
	cfg := config(s)
	cfg.CAFile, cfg.Headers = file, map[string]string{"X-Key": "k"}
	if got := refused(t, cfg); !strings.Contains(got, "does not follow") {
		t.Error(got)
	}
	plain.mu.Lock()
	defer plain.mu.Unlock()
	if len(plain.seen) != 0 {
		t.Errorf("over http: %v", plain.seen)
	}
}

// TestFileOfCertificates checks what is said of a file that cannot be used.
func TestFileOfCertificates(t *testing.T) {
	t.Parallel()
	words := filepath.Join(t.TempDir(), "words.pem")
	if err := os.WriteFile(words, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"/no/such.pem": "cannot be read: no such file", words: "holds no certificate", t.TempDir(): "is no file of certificates"} {
		got := refused(t, mcphost.ServerConfig{ID: "x", URL: "https://127.0.0.1:1", CAFile: file})
		if !strings.Contains(got, want) || !strings.Contains(got, "BEGIN CERTIFICATE") {
			t.Errorf("%s: %s", file, got)
		}
	}
}

// silent is a listener that takes connections and says nothing.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var open []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				break
			}
			open = append(open, c)
		}
		for _, c := range open {
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

// unattended is a listener from which nobody takes connections.
func unattended(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// TestStartEnds begins with what is no server at all, or hangs below HTTP: the start ends within its limit.
func TestStartEnds(t *testing.T) {
	t.Parallel()
	page := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(page.Close)
	for name, tt := range map[string]struct{ url, want string }{
		"no TLS handshake":  {"https://" + silent(t), "did not answer within"},
		"nobody accepts":    {"http://" + unattended(t), "did not answer within"},
		"no https there":    {strings.Replace(page.URL, "http:", "https:", 1), "does not speak https"},
		"no such name":      {"http://no-such-host.invalid/mcp", "no-such-host.invalid"},
		"an impossible one": {"http://[::1", "no address of a server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			done := make(chan string, 1)
			go func() {
				done <- refused(t, mcphost.ServerConfig{ID: "x", URL: tt.url, StartTimeout: time.Second})
			}()
			select {
			case got := <-done:
				if !strings.Contains(got, tt.want) {
					t.Error(got)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("the start does not end")
			}
		})
	}
}

// TestProxy reaches a server through a proxy that wants a password: it gets it, and nobody else does. What cannot be
// reached through one is said without it.
func TestProxy(t *testing.T) {
	t.Parallel()
	s := newWeb(t, nil, nil)
	var through, barred atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := proxyUser(r); !ok || user != "me" || password != "CANARY-7" {
			barred.Add(1)
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		if r.Method == http.MethodConnect {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		through.Add(1)
		r.Header.Del("Proxy-Authorization")
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { proxy.CloseClientConnections(); proxy.Close() })
	with := strings.Replace(proxy.URL, "http://", "http://me:CANARY-7@", 1)
	cfg := mcphost.ServerConfig{ID: "x", URL: "http://mcp.example/mcp", AllowHTTP: true, Proxy: with, StartTimeout: 5 * time.Second}

	h, w := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, cfg)
	if r := callEcho(t, c, "echo"); r.Outcome != send.OK || through.Load() == 0 {
		t.Errorf("%s: %s; %d requests went through the proxy", r.Outcome, r.Reason, through.Load())
	}
	for _, o := range w.Seen() {
		if s, ok := o.(mcphost.StateChanged); ok && strings.Contains(s.Detail, "CANARY") {
			t.Errorf("told: %+v", s)
		}
	}
	for _, f := range c.Frames() {
		if strings.Contains(string(f.Bytes), "CANARY") {
			t.Errorf("frame: %s", f.Bytes)
		}
	}
	before := through.Load()
	direct := config(s)
	direct.Proxy = with
	trial.Connect(t, h, direct)
	if through.Load() != before {
		t.Error("this computer itself was reached through the proxy")
	}

	wrong := cfg
	wrong.Proxy = strings.Replace(proxy.URL, "http://", "http://me:CANARY-8@", 1)
	gone := cfg
	gone.Proxy = "http://me:CANARY-9@" + deadAddress(t)
	secure, secureWrong := cfg, wrong
	secure.URL, secureWrong.URL = "https://mcp.example/mcp", "https://mcp.example/mcp"
	odd := cfg
	odd.Proxy = "gopher://me:CANARY-9@proxy"
	for name, tt := range map[string]struct {
		cfg  mcphost.ServerConfig
		want []string
	}{
		"wrong password":             {wrong, []string{"the proxy", "407", "HTTPS_PROXY"}},
		"wrong password, over https": {secureWrong, []string{"the proxy", "407"}},
		"does not reach it":          {secure, []string{"the proxy", "502"}},
		"does not answer":            {gone, []string{"the proxy does not answer"}},
		"is no proxy":                {odd, []string{"the proxy cannot be used", "direct"}},
	} {
		got := refused(t, tt.cfg)
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in: %s", name, want, got)
			}
		}
		if strings.Contains(got, "CANARY") || strings.Contains(got, "me:") {
			t.Errorf("%s: the password is in: %s", name, got)
		}
	}
	if barred.Load() == 0 {
		t.Error("the proxy refused nothing")
	}
}

// proxyUser is who a request to a proxy says it is from.
func proxyUser(r *http.Request) (user, password string, ok bool) {
	again := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	return again.BasicAuth()
}

func deadAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// TestHeadersOfTheTransport checks that headers that a person has copied from an example do not break what the
// transport says itself, and that all others arrive.
func TestHeadersOfTheTransport(t *testing.T) {
	t.Parallel()
	var bad atomic.Int64
	s := newWeb(t, func(_ http.ResponseWriter, r *http.Request, m message) bool {
		if r.Header.Get("Accept") != "application/json, text/event-stream" || r.Header.Get("Content-Type") != "application/json" ||
			r.Header.Get("Mcp-Session-Id") != "" || r.Header.Get("X-Key") != "k" || m.Method == "" {
			bad.Add(1)
		}
		return false
	}, nil)
	cfg := config(s)
	cfg.Headers = map[string]string{
		"accept": "application/json", "content-type": "text/plain", "Mcp-Session-Id": "mine", "Accept-Encoding": "br", "Content-Length": "3", "X-Key": "k",
	}
	h, _ := trial.Host(t, mcphost.Options{})
	if r := callEcho(t, trial.Connect(t, h, cfg), "echo"); r.Outcome != send.OK || bad.Load() != 0 {
		t.Errorf("%s: %s; %d requests with other headers", r.Outcome, r.Reason, bad.Load())
	}
}

// TestServersShareNothing has one server set a cookie and a session and ask for an authorization: another one on the
// same host gets none of it.
func TestServersShareNothing(t *testing.T) {
	t.Parallel()
	a := newWeb(t, func(w http.ResponseWriter, _ *http.Request, m message) bool {
		http.SetCookie(w, &http.Cookie{Name: "who", Value: "CANARY", Path: "/"})
		if m.Method == "initialize" {
			w.Header().Set("Mcp-Session-Id", "CANARY")
		}
		return false
	}, nil)
	var leaked atomic.Int64
	b := newWeb(t, func(_ http.ResponseWriter, r *http.Request, _ message) bool {
		for _, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), "CANARY") {
				leaked.Add(1)
			}
		}
		return false
	}, nil)
	h, _ := trial.Host(t, mcphost.Options{})
	first := config(a)
	first.Headers = map[string]string{"Authorization": "Bearer CANARY"}
	trial.Connect(t, h, first)
	second := config(b)
	second.ID = "other"
	trial.Connect(t, h, second)
	if leaked.Load() != 0 {
		t.Errorf("%d requests carried what belongs to another server", leaked.Load())
	}
}

// quiet takes what a test's server has to say of connections that its client ends.
var quiet = log.New(io.Discard, "", 0)
