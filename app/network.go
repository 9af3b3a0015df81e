package app

import (
	"net/url"

	"steward/mcphost"
)

// network says how a server over HTTP is reached: as its entry says, else as the settings do. The
// proxy's password is redacted from then on.
func (s *servers) network(cfg *mcphost.ServerConfig, server, proxy, caFile string) error {
	if cfg.URL == "" {
		return nil
	}
	limits := s.limitsNow()
	cfg.CAFile = cmpOr(caFile, limits.caFile)
	var err error
	if cfg.Proxy, err = s.secret(server, cmpOr(proxy, limits.proxy)); err != nil {
		return err
	}
	if u, err := url.Parse(cfg.Proxy); err == nil {
		if password, ok := u.User.Password(); ok {
			s.learn(server+" proxy", password)
			s.learn(server+" proxy", url.QueryEscape(password))
		}
	}
	return nil
}
