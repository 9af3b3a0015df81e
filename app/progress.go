package app

// ModelHost names where the model of this run is, as host and port; empty for the demo
// model, which is in this program.
func (a *App) ModelHost() string {
	a.model.mu.Lock()
	defer a.model.mu.Unlock()
	if a.model.fixed != nil {
		return hostOf(a.model.fixed.BaseURL)
	}
	chosen, _ := a.model.stored.find(a.model.stored.Chosen)
	return hostOf(chosen.BaseURL)
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
