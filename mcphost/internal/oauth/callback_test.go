package oauth

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// TestCallbackPort80 checks the one port that browsers leave out of an address, which
// many systems let a program use.
func TestCallbackPort80(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]int{
		"127.0.0.1": http.StatusOK, "127.0.0.1:80": http.StatusOK, "127.0.0.1:8080": http.StatusForbidden, "localhost": http.StatusForbidden, "evil.example": http.StatusForbidden,
	} {
		c := &callback{port: 80, state: "s", answers: make(chan url.Values, 1)}
		r := httptest.NewRequest(http.MethodGet, "/callback?state=s&code=c", nil)
		r.Host = host
		if status, _ := c.take(r); status != want {
			t.Errorf("%s: %d", host, status)
		}
	}
	c := &callback{port: 81, state: "s", answers: make(chan url.Values, 1)}
	r := httptest.NewRequest(http.MethodGet, "/callback?state=s&code=c", nil)
	r.Host = "127.0.0.1"
	if status, _ := c.take(r); status != http.StatusForbidden {
		t.Errorf("without another port: %d", status)
	}
}
