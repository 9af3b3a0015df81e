package config

import (
	"net/url"
	"strings"
)

// Direct as a proxy reaches servers without one, whatever the environment says.
const Direct = "direct"

// CheckProxy says what is wrong with the address of a proxy as a person writes it, and what to do;
// both are empty where it can be used: "" for the environment's, Direct for none, or http://, https://
// or socks5:// and a host, with a user name and ${secret:NAME} for a password. Neither text repeats
// the address.
func CheckProxy(proxy string) (why, what string) {
	if proxy == "" || proxy == Direct {
		return "", ""
	}
	u, err := url.Parse(withoutSecrets(proxy))
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
		return "is no address of a proxy", `write it as "http://proxy:3128", or "direct" for none`
	}
	if password, ok := u.User.Password(); ok && password != placeholder {
		return "holds a password, readable for everyone who gets the file", "write ${secret:NAME} in its place"
	}
	return "", ""
}

// placeholder stands for a secret while an address is looked at.
const placeholder = "SECRET"

// withoutSecrets puts the placeholder in for every ${secret:NAME}.
func withoutSecrets(s string) string {
	for _, ref := range references(s) {
		if strings.HasPrefix(ref, "secret:") {
			s = strings.ReplaceAll(s, "${"+ref+"}", placeholder)
		}
	}
	return s
}

// checkNetwork looks at how the address is to be reached.
func (e *entry) checkNetwork() {
	if why, what := CheckProxy(e.s.Proxy); why != "" {
		e.breaks(e.at("proxy"), `"proxy" `+why, strings.ToUpper(what[:1])+what[1:]+".")
	}
	for _, field := range []string{"proxy", "caFile"} {
		if e.given[field] != 0 && e.s.Command != "" {
			e.warns(e.at(field), `"`+field+`" is ignored for a local program`, `Use "env": HTTPS_PROXY, SSL_CERT_FILE or NODE_EXTRA_CA_CERTS.`)
		}
	}
}
