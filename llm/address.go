package llm

import (
	"net/http"
	"net/url"
	"strings"
)

// deployments is how a path of Azure's older API goes on; only chat/completions stand below.
const deployments = "/deployments/"

// listAt is the URL of the list of models.
func listAt(base *url.URL) *url.URL {
	u := *base
	if before, _, ok := strings.Cut(u.Path, "/openai"+deployments); ok {
		u.Path, u.RawPath = before+"/openai", ""
		u.RawPath = u.EscapedPath()
	}
	return at(&u, "/models")
}

// withVersion names the version of the API in the query, where the profile has one and the
// address names none.
func withVersion(u *url.URL, p Profile) *url.URL {
	if p.APIVersion == "" || !strings.Contains(u.Path, deployments) || u.Query().Has("api-version") {
		return u
	}
	out := *u
	q := out.Query()
	q.Set("api-version", p.APIVersion)
	out.RawQuery = q.Encode()
	return &out
}

// listing prepares the request for the list of models.
func (c *Client) listing() (*exchange, *Error) {
	x, problem := c.exchange("/models", nil, nil)
	if problem != nil {
		return nil, problem
	}
	p := c.Profile()
	x.url = listAt(withVersion(c.base, p))
	if p.ListKey != "" && x.key != "" {
		name, value, _ := strings.Cut(p.ListVersion, ": ")
		x.also = http.Header{}
		x.also.Set(p.ListKey, x.key)
		x.also.Set(name, value)
	}
	return x, nil
}

// Profile is what is known of the endpoint now, with what it has shown so far. Its lists
// must not be changed.
func (c *Client) Profile() Profile {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.profile
}

// Relearn replaces what the endpoint has shown by refusals; its requests from now on are
// written so.
func (c *Client) Relearn(learned map[string]string) {
	e := c.endpoint
	e.Learned = learned
	p, problem := findProfile(e, c.base)
	if problem != nil {
		return // New has found it
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.profile = p
}
