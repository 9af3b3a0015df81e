package app

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"steward/app/config"
	"steward/app/event"
	"steward/mcphost"
)

// This file turns the shapes of one layer into those of another.

// resolve makes a server as written into one that can be started: variables, ~ and
// secrets put in. What it puts in for a secret, and what looks like one, is redacted
// from then on.
func (s *servers) resolve(c config.Server) (mcphost.ServerConfig, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // ~ then stays as written, and the warning below says nothing about it
	}
	x, problems := config.Expand(c, s.learnInserted(c.Name), home)
	for _, p := range problems {
		s.tellConfig(c.Name, p)
	}
	cfg := mcphost.ServerConfig{
		ID: c.Name, Command: x.Command, Cwd: x.Cwd, Transport: x.Transport, AllowHTTP: x.AllowHTTP, Hash: c.Hash(),
		StartTimeout: x.StartTimeout, ToolTimeout: x.ToolTimeout, MaxFrame: x.MaxMessage,
		Sampling: s.sampling == nil || s.sampling(c.Name),
		Roots:    unique(slices.Concat(s.shareable(c.Name, x.Roots), s.roots)),
	}
	limits := s.limitsNow()
	if cfg.StartTimeout == 0 {
		cfg.StartTimeout = limits.start
	}
	if cfg.ToolTimeout == 0 {
		cfg.ToolTimeout = limits.tool
	}
	if cfg.Args, err = s.secretList(c.Name, x.Args); err != nil {
		return cfg, err
	}
	if cfg.Env, err = s.secretMap(c.Name, "env", x.Env); err != nil {
		return cfg, err
	}
	if cfg.Headers, err = s.secretMap(c.Name, "header", x.Headers); err != nil {
		return cfg, err
	}
	cfg.URL, err = s.address(c.Name, x.URL)
	if err == nil {
		cfg.OAuth, err = s.oauth(c.Name, x.OAuth)
	}
	if err == nil {
		err = s.network(&cfg, c.Name, x.Proxy, x.CAFile)
	}
	learnURL(s.learn, c.Name, cfg.URL)
	learnArgs(s.learn, c.Name, cfg.Args)
	return cfg, err
}

func (s *servers) tellConfig(server string, p config.Problem) {
	s.tell(event.Notice{Kind: "server_config", Server: server, Message: p.String()})
}

// learnInserted looks variables up, and marks as secret what they put into a server's
// settings: whoever keeps a value out of the file has a reason for it.
func (s *servers) learnInserted(server string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := s.env(name)
		if ok && insertedSecret(name, v) {
			s.learn(server+" "+name, v)
		}
		return v, ok
	}
}

func (s *servers) secret(server, text string) (string, error) {
	if !strings.Contains(text, "${secret:") {
		return text, nil
	}
	out, err := s.expand(s.ctx, text)
	if err != nil {
		return "", fmt.Errorf("the server %s was not started because a secret in its settings cannot be read: %w", server, err)
	}
	return out, nil
}

// oauth puts the client's secret in, which is one whatever it looks like.
func (s *servers) oauth(server string, o config.OAuth) (mcphost.OAuthConfig, error) {
	out := mcphost.OAuthConfig{ClientID: o.ClientID, ClientSecret: o.ClientSecret, MetadataURL: o.MetadataURL, Scopes: o.Scopes, CallbackPort: o.CallbackPort}
	var err error
	if out.ClientID, err = s.secret(server, o.ClientID); err != nil {
		return out, err
	}
	out.ClientSecret, err = s.secret(server, o.ClientSecret)
	if err == nil && out.ClientSecret != "" {
		s.learn(server+" client secret", out.ClientSecret)
	}
	return out, err
}

func (s *servers) secretList(server string, in []string) ([]string, error) {
	out := make([]string, len(in))
	for i, v := range in {
		var err error
		if out[i], err = s.secret(server, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *servers) secretMap(server, what string, in map[string]string) (map[string]string, error) {
	out := make(map[string]string, len(in))
	for _, k := range slices.Sorted(maps.Keys(in)) {
		v, err := s.secret(server, in[k])
		if err != nil {
			return nil, err
		}
		if what == "header" || isSecret(k, v) {
			s.learn(server+" "+what+" "+k, v)
			if scheme, token, ok := strings.Cut(v, " "); ok && what == "header" && len(scheme) < 12 {
				s.learn(server+" "+what+" "+k, token)
			}
		}
		out[k] = v
	}
	return out, nil
}

func unique(in []string) []string {
	var out []string
	for _, v := range in {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
