package app

import "net/url"

// ModelHost names where the model is, as host and port; empty for the demo model, which
// is in this program.
func (a *App) ModelHost() string {
	if a.model.start != nil {
		return ""
	}
	u, err := url.Parse(a.model.endpoint.BaseURL)
	if err != nil {
		return ""
	}
	return u.Host
}

// Starting names the servers that are being started now, in the list's order.
func (a *App) Starting() []string {
	var names []string
	for _, e := range a.servers.all() {
		select {
		case <-e.done:
		default:
			names = append(names, e.config.Name)
		}
	}
	return names
}
