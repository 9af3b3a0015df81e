package consent

import "net/url"

// withoutUser is a proxy's address without the user and password in it.
func withoutUser(proxy string) string {
	u, err := url.Parse(proxy)
	if err != nil {
		return ""
	}
	u.User = nil
	return u.String()
}
