package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"steward/app/config"
	"steward/app/event"
	"steward/app/secrets"
	"steward/llm"
	"steward/mcphost"
)

// Bounds of what a person sets about the way to an endpoint.
const (
	maxEndpointHeaders = 50
	maxEndpointHeader  = 8 << 10 // bytes of a value
	maxEndpointWait    = 4 * time.Hour
)

// Reach is how an endpoint is reached, where that differs from the usual.
type Reach struct {
	// Proxy and CAFile replace those of the settings where not empty; see [config.CheckProxy]
	// for how a proxy is written.
	Proxy, CAFile string
	// Headers go with each request, as gateways want them. ${secret:NAME} stands for a
	// secret; [App.SaveEndpoint] moves what looks like one there.
	Headers map[string]string
	// FirstToken is how long the first piece of an answer may take, Idle how long the
	// endpoint may then be silent; 0 is the usual, 15 and 5 minutes. Whole seconds.
	FirstToken, Idle time.Duration
}

// way is a Reach that can be compared.
type way struct {
	proxy, caFile    string
	headers          string // JSON of them; "" for none
	firstToken, idle time.Duration
}

// route is a way with the settings' in the gaps and its secrets put in.
type route struct{ proxy, caFile string }

func (r Reach) way() way {
	w := way{proxy: r.Proxy, caFile: r.CAFile, firstToken: r.FirstToken, idle: r.Idle}
	if len(r.Headers) > 0 {
		raw, _ := json.Marshal(r.Headers) // of texts alone; it cannot fail
		w.headers = string(raw)
	}
	return w
}

func (w way) header() (h map[string]string) {
	_ = json.Unmarshal([]byte(w.headers), &h) // what way wrote; nothing of ""
	return h
}

// route finds how an endpoint is reached now. It may wait for the keyring, some seconds.
func (a *App) route(w way) (route, error) {
	ctx, cancel := context.WithTimeout(context.Background(), keyWait)
	defer cancel()
	now := a.settingsNow()
	r := route{caFile: cmp.Or(w.caFile, now.CAFile)}
	var err error
	r.proxy, err = fillAddress(cmp.Or(w.proxy, now.Proxy), func(part string) (string, error) { return a.secrets.Expand(ctx, part) })
	if err != nil {
		return route{}, &Message{Key: "endpoint", Args: args("detail", "The model was not asked, because the password of the proxy cannot be read: "+err.Error()), Err: err}
	}
	learnProxy(a.secrets.Redactor().Learn, "model", r.proxy)
	return r, nil
}

// connect makes the client for an endpoint. Nothing is sent.
func (m *model) connect(e llm.Endpoint, w way, r route) (*llm.Client, error) {
	o := m.options
	o.FirstToken, o.Idle = cmp.Or(w.firstToken, o.FirstToken), cmp.Or(w.idle, o.Idle)
	found, err := mcphost.NewRoute(r.proxy, r.caFile)
	if err != nil {
		return nil, &Message{Key: "endpoint", Args: args("detail", "The model was not asked: "+err.Error()), Err: err}
	}
	o.Proxy, o.Roots = found.Proxy, found.Roots
	if h := w.header(); len(h) > 0 {
		e.Header = func() http.Header { return m.header(h) }
		e.SecretHeader = secretHeaders(h)
	}
	return llm.New(e, o)
}

// header puts the secrets into an endpoint's headers. One that cannot be read is left out,
// and told: the endpoint's refusal then says what is missing.
func (a *App) header(h map[string]string) http.Header {
	ctx, cancel := context.WithTimeout(context.Background(), keyWait)
	defer cancel()
	out := http.Header{}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		value, err := a.secrets.Expand(ctx, h[name])
		if err != nil {
			a.bus.Publish(event.Notice{Kind: "key_missing", Message: fmt.Sprintf("The header %s of the model endpoint is not sent, because its secret cannot be read: %v", name, err)})
			continue
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			a.bus.Publish(event.Notice{Kind: "key_missing", Message: fmt.Sprintf("The header %s of the model endpoint is not sent, because its secret holds a line break or control character.", name)})
			continue
		}
		if h[name] != value || isSecret(name, value) {
			a.secrets.Redactor().Learn("header "+name, value)
		}
		out.Set(name, value)
	}
	return out
}

// secretHeaders says whether there is something among headers that must not be read by
// others on the way.
func secretHeaders(h map[string]string) bool {
	for name, value := range h {
		if strings.Contains(value, "${secret:") || isSecret(name, value) {
			return true
		}
	}
	return false
}

// reserved are headers that the connection or the request itself decides.
var reserved = []string{"Host", "Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding", "Connection", "Proxy-Connection", "Proxy-Authorization", "Upgrade", "Te", "Trailer", "Keep-Alive", "Accept-Encoding"}

// check says what cannot be used.
func (r Reach) check() error {
	if why, what := config.CheckProxy(r.Proxy); why != "" {
		return fmt.Errorf("the proxy of the endpoint %s; %s", why, what)
	}
	if len(r.Headers) > maxEndpointHeaders {
		return fmt.Errorf("the endpoint has %d headers; at most %d can be sent", len(r.Headers), maxEndpointHeaders)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		value := r.Headers[name]
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			return fmt.Errorf("%s cannot be the name of a header; use letters, digits and -, as in X-Api-Key", reveal(name))
		case slices.Contains(reserved, textproto.CanonicalMIMEHeaderKey(name)):
			return fmt.Errorf("the header %s cannot be set: the connection decides it", reveal(name))
		case len(value) > maxEndpointHeader || !httpguts.ValidHeaderFieldValue(value):
			return fmt.Errorf("the value of the header %s cannot be sent: it is too long, or holds a line break or control character", reveal(name))
		}
	}
	for _, d := range []time.Duration{r.FirstToken, r.Idle} {
		if d < 0 || d > maxEndpointWait || d%time.Second != 0 {
			return fmt.Errorf("the endpoint cannot be waited for %s; it is whole seconds, at most %s", d, maxEndpointWait)
		}
	}
	return nil
}

// hideHeaders moves what looks like a secret among an endpoint's headers to the secrets and
// gives the headers with references in their places.
func (a *App) hideHeaders(ctx context.Context, id string, h map[string]string) (map[string]string, error) {
	out := maps.Clone(h)
	for name, value := range h {
		if strings.Contains(value, "${secret:") || !isSecret(name, value) {
			continue
		}
		secret := headerSecret(id) + name
		if err := a.secrets.Set(ctx, secret, secrets.NewSecret(value)); err != nil {
			return nil, fmt.Errorf("the header %s could not be kept among the secrets, so the endpoint was not stored: %w", reveal(name), err)
		}
		out[name] = "${secret:" + secret + "}"
	}
	return out, nil
}

// headerSecret begins the names of the secrets in an endpoint's headers.
func headerSecret(id string) string { return "endpoint." + id + ".header." }

// ownSecrets names the secrets that only this endpoint has: its key, and those of its headers.
func (e storedEndpoint) ownSecrets() (names []string) {
	if e.KeyName == "endpoint."+e.ID {
		names = append(names, e.KeyName)
	}
	for _, value := range e.Headers {
		if name, ok := strings.CutPrefix(value, "${secret:"+headerSecret(e.ID)); ok && strings.HasSuffix(name, "}") {
			names = append(names, headerSecret(e.ID)+strings.TrimSuffix(name, "}"))
		}
	}
	return names
}
