package app

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/app/config"
	"steward/testdata/scriptedmodel"
)

// company is a model endpoint inside a company: its certificate is the company's own, its name is known to the proxy
// alone, and the proxy wants a password.
type company struct {
	model *scriptedmodel.Server
	ca    string // file of the company's certificate
	proxy string // address, without user
	user  string
	pass  string

	mu      sync.Mutex
	through []string // hosts that were asked for
}

const companyHost = "model.company.example"

func newCompany(t *testing.T, script scriptedmodel.Script) *company {
	t.Helper()
	c := &company{model: scriptedmodel.StartScript(t, script), user: "me", pass: "CANARY-p@ss/1"}
	der, key := c.certificate(t)
	inside := httptest.NewUnstartedServer(c.model)
	inside.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	inside.Config.ErrorLog = log.New(io.Discard, "", 0)
	inside.StartTLS()
	t.Cleanup(func() { inside.CloseClientConnections(); inside.Close() })
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.tunnel(w, r, inside.Listener.Addr().String()) }))
	t.Cleanup(func() { proxy.CloseClientConnections(); proxy.Close() })
	c.proxy = strings.TrimPrefix(proxy.URL, "http://")
	return c
}

func (c *company) certificate(t *testing.T) ([]byte, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Company"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, DNSNames: []string{companyHost},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	check(t, err)
	c.ca = filepath.Join(t.TempDir(), "ca.pem")
	write(t, c.ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	return der, key
}

// tunnel is the proxy: RFC 9110, 9.3.6.
func (c *company) tunnel(w http.ResponseWriter, r *http.Request, to string) {
	again := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	user, pass, _ := again.BasicAuth()
	if user != c.user || pass != c.pass {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	c.mu.Lock()
	c.through = append(c.through, r.Host)
	c.mu.Unlock()
	if r.Method != http.MethodConnect || r.Host != companyHost+":443" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	there, err := net.Dial("tcp", to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer there.Close()
	here, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connected\r\n\r\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(there, here); _ = there.(*net.TCPConn).CloseWrite() })
	_, _ = io.Copy(here, there)
	_ = here.Close()
	both.Wait()
}

func (c *company) asked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.through)
}

// stored opens the rig without an endpoint for the run, so that those that are stored count.
func (r *rig) stored() {
	r.t.Helper()
	r.close()
	r.o.Endpoint = Endpoint{}
	r.open()
}

// A model inside a company is reached through its proxy and with its certificate, as the settings or the endpoint's own
// fields say; its gateway gets the headers that were set. What is secret stands in the secrets alone.
func TestAModelBehindAProxyAndAGateway(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	c := newCompany(t, scriptedmodel.Script{Model: "inside", Token: "key-0123456789abc", Steps: []scriptedmodel.Step{say("from inside")}, Repeat: true})
	r := newRig(t, map[string]any{})
	r.stored()
	e := ModelEndpoint{Name: "Company", BaseURL: "https://" + companyHost + "/v1", Model: "inside"}
	e.Headers = map[string]string{"X-Gateway-Key": "CANARY-gateway-0123456789", "X-Team": "blue"}
	if _, err := r.app.TestEndpoint(ctx, e, "key-0123456789abc"); err == nil {
		t.Error("it was reached without its proxy")
	}
	address := must(t, func() (string, error) {
		return r.app.KeepProxyPassword(ctx, "http://"+c.user+"@"+c.proxy, c.pass)
	})
	s := must(t, func() (Settings, error) { return r.app.Settings(ctx) })
	s.Proxy = address
	check(t, r.app.SaveSettings(ctx, s))
	_, err := r.app.TestEndpoint(ctx, e, "key-0123456789abc")
	if err == nil || !strings.Contains(err.Error(), "not trusted") || !strings.Contains(err.Error(), "Settings, Network") {
		t.Errorf("with a certificate that nobody knows: %v", err)
	}
	s.CAFile = c.ca
	check(t, r.app.SaveSettings(ctx, s))
	if models := must(t, func() ([]ModelInfo, error) { return r.app.TestEndpoint(ctx, e, "key-0123456789abc") }); len(models) != 1 || models[0].ID != "inside" {
		t.Errorf("it offers %+v", models)
	}
	id := must(t, func() (string, error) { return r.app.SaveEndpoint(ctx, e, "key-0123456789abc") })
	chat := r.say("", "hello")
	if m := r.messages(chat); m[len(m)-1].Text != "from inside" {
		t.Errorf("answered: %+v", m)
	}
	got := c.model.Requests()[0].Header
	if got.Get("X-Gateway-Key") != "CANARY-gateway-0123456789" || got.Get("X-Team") != "blue" || got.Get("Proxy-Authorization") != "" {
		t.Errorf("the gateway got %v", got)
	}
	raw := must(t, func() (json.RawMessage, error) { return r.app.db.Setting(ctx, endpointsKey) })
	if strings.Contains(string(raw), "CANARY") || !strings.Contains(string(raw), `"X-Team":"blue"`) {
		t.Errorf("stored is %s", raw)
	}
	if shown := r.app.secrets.Redactor().Redact("CANARY-gateway-0123456789 and " + c.pass); strings.Contains(shown, "CANARY") {
		t.Errorf("not redacted: %s", shown)
	}

	// the endpoint's own fields go before the settings'
	s.Proxy, s.CAFile = config.Direct, ""
	check(t, r.app.SaveSettings(ctx, s))
	own := must(t, func() ([]ModelEndpoint, error) { return r.app.Endpoints(ctx) })[0]
	own.Proxy, own.CAFile = address, c.ca
	must(t, func() (string, error) { return r.app.SaveEndpoint(ctx, own, "") })
	before := c.asked()
	r.say(chat, "again")
	if c.asked() == before && len(c.model.Requests()) < 2 {
		t.Error("the endpoint's own proxy was not used")
	}
	if got := c.model.Requests()[1].Header.Get("X-Gateway-Key"); got != "CANARY-gateway-0123456789" {
		t.Errorf("saved anew, the gateway gets %q", got)
	}

	// a wrong password at the proxy
	own.Proxy = "http://other@" + c.proxy
	must(t, func() (string, error) { return r.app.SaveEndpoint(ctx, own, "") })
	turn, err := r.app.Send(ctx, Draft{Conversation: chat, Text: "once more"})
	check(t, err)
	result, err := turn.Wait(ctx)
	check(t, err)
	if result.State != "failed" || !strings.Contains(result.Error, "proxy") || !strings.Contains(result.Error, "407") || strings.Contains(result.Error, "CANARY") {
		t.Errorf("refused by the proxy: %+v", result)
	}

	// at another host, neither key nor secret header come along; what is no secret does
	own.BaseURL = "https://elsewhere.example/v1"
	must(t, func() (string, error) { return r.app.SaveEndpoint(ctx, own, "") })
	moved := must(t, func() ([]ModelEndpoint, error) { return r.app.Endpoints(ctx) })[0]
	if _, ok := moved.Headers["X-Gateway-Key"]; ok || moved.HasKey || moved.Headers["X-Team"] != "blue" {
		t.Errorf("moved: %+v", moved)
	}
	own.BaseURL = e.BaseURL
	own.Headers = e.Headers
	must(t, func() (string, error) { return r.app.SaveEndpoint(ctx, own, "") })
	check(t, r.app.DeleteEndpoint(ctx, id))
	if names := must(t, func() ([]string, error) { return r.app.SecretNames(ctx) }); slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "endpoint.") }) {
		t.Errorf("left behind are %v", names)
	}
}

// A secret header does not travel in clear text to another machine, and what no header can be is refused by name.
func TestHeadersThatCannotBeSent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{})
	r.stored()
	clear := ModelEndpoint{BaseURL: "http://192.0.2.1/v1", Model: "m"}
	clear.Headers = map[string]string{"X-Api-Key": "CANARY-header-0123456789"}
	if _, err := r.app.TestEndpoint(ctx, clear, ""); err == nil || !strings.Contains(err.Error(), "were not sent") || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("in clear text: %v", err)
	}
	for name, h := range map[string]Reach{
		"host":    {Headers: map[string]string{"host": "x"}},
		"a b":     {Headers: map[string]string{"a b": "x"}},
		"X-Bad":   {Headers: map[string]string{"X-Bad": "a\r\nX-Evil: 1"}},
		"proxy":   {Proxy: "gopher://x"},
		"waited":  {Idle: -time.Second},
		"waited ": {FirstToken: 30 * time.Hour},
	} {
		_, err := r.app.SaveEndpoint(ctx, ModelEndpoint{BaseURL: "https://x.example", Model: "m", Reach: h}, "")
		if m := Explain(err); m.Key != "endpoint" || !strings.Contains(m.Error(), strings.TrimSpace(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list := must(t, func() ([]ModelEndpoint, error) { return r.app.Endpoints(ctx) }); len(list) != 0 {
		t.Errorf("stored are %+v", list)
	}
}

// What of the network cannot be used ends the turn at once, with what to do; nothing is tried again.
func TestANetworkThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{})
	s := must(t, func() (Settings, error) { return r.app.Settings(ctx) })
	s.CAFile = filepath.Join(t.TempDir(), "none.pem")
	check(t, r.app.SaveSettings(ctx, s))
	fails := func(want ...string) {
		t.Helper()
		wait, cancel := context.WithTimeout(ctx, 40*time.Second)
		defer cancel()
		result, err := r.send(Draft{Text: "x"}).Wait(wait)
		for _, w := range want {
			if err != nil || result.State != "failed" || !strings.Contains(result.Error, w) || strings.Contains(result.Error, "CANARY") {
				t.Errorf("%q is not in %+v, %v", w, result, err)
			}
		}
	}
	fails("none.pem", "cannot be read", "BEGIN CERTIFICATE")
	s.CAFile, s.Proxy = "", "http://me:${secret:none}@proxy.example:3128"
	check(t, r.app.SaveSettings(ctx, s))
	fails("password of the proxy cannot be read", "none")
	if n := len(r.model.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// Endpoints of one host keep keys and waiting times of their own.
func TestTwoEndpointsOfOneHost(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m := scriptedmodel.StartScript(t, scriptedmodel.Script{Steps: []scriptedmodel.Step{say("one"), say("two"), {End: "hang"}}})
	r := newRig(t, map[string]any{})
	r.stored()
	first := must(t, func() (string, error) {
		return r.app.SaveEndpoint(ctx, ModelEndpoint{Name: "A", BaseURL: m.URL(), Model: "m"}, "key-a-0123456789")
	})
	second := must(t, func() (string, error) {
		return r.app.SaveEndpoint(ctx, ModelEndpoint{Name: "B", BaseURL: m.URL(), Model: "m", Reach: Reach{FirstToken: time.Second}}, "key-b-0123456789")
	})
	chat := r.say("", "x")
	check(t, r.app.SetConversationSettings(ctx, chat, ConversationSettings{Endpoint: second}))
	r.say(chat, "x")
	got := m.Requests()
	if a, b := got[0].Header.Get("Authorization"), got[1].Header.Get("Authorization"); a != "Bearer key-a-0123456789" || b != "Bearer key-b-0123456789" {
		t.Errorf("%s and %s had %q and %q", first, second, a, b)
	}
	turn, err := r.app.Send(ctx, Draft{Conversation: chat, Text: "x"})
	check(t, err)
	wait, cancel := context.WithTimeout(ctx, 40*time.Second)
	defer cancel()
	result, err := turn.Wait(wait)
	if err != nil || result.State != "failed" && result.State != "interrupted" {
		t.Errorf("an endpoint that is silent for longer than was set: %+v %v", result, err)
	}
}
