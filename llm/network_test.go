package llm

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// What is wrong with a proxy is said at once where trying again cannot help, without its address.
func TestProxiesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		proxy func(*http.Request) (*url.URL, error)
		kind  string
		want  string
	}{
		"odd": {func(*http.Request) (*url.URL, error) {
			return nil, errors.New("the address of the proxy cannot be used")
		}, KindConfig, "Settings, Network"},
		"gone": {func(*http.Request) (*url.URL, error) { return url.Parse("http://me:CANARY@" + closed) }, KindNetwork, "The proxy on the way to https://model.example cannot be reached"},
	} {
		c := newClient(t, "https://model.example", func(_ *Endpoint, o *Options) { o.Proxy = tt.proxy })
		_, err := c.Models(t.Context())
		var e *Error
		if !errors.As(err, &e) || e.Kind != tt.kind || !strings.Contains(e.Message, tt.want) || strings.Contains(e.Message, "CANARY") || e.Retryable != (tt.kind == KindNetwork) {
			t.Errorf("%s: %+v", name, err)
		}
	}
}
