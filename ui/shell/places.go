package shell

import (
	"steward/ui/audit"
	"steward/ui/chat"
	"steward/ui/place"
	"steward/ui/servers"
	"steward/ui/settings"
	"steward/ui/waiting"
)

// maker is a place that this build has. Its row in the side bar stands where it stands in makers.
type maker struct {
	name     string
	icon     string
	titleKey string
	make     func(d place.Deps) place.Place
}

// makers are the places in the order of the side bar. The chat has no row of its own: the conversations are its rows.
func makers() []maker {
	return []maker{
		{place.Chat, "chat", "shell.new_chat", func(d place.Deps) place.Place { return chat.New(d) }},
		{place.Waiting, "clock", "shell.waiting", func(d place.Deps) place.Place { return waiting.New(d) }},
		{place.Servers, "servers", "shell.servers", func(d place.Deps) place.Place { return servers.New(d) }},
		{place.Audit, "audit", "shell.audit", func(d place.Deps) place.Place { return audit.New(d) }},
		{place.Settings, "settings", "shell.settings", func(d place.Deps) place.Place { return settings.New(d) }},
	}
}

func (s *Shell) maker(name string) (maker, bool) {
	for _, m := range s.makers {
		if m.name == name {
			return m, true
		}
	}
	return maker{}, false
}

// offers says whether this build has a place.
func (s *Shell) offers(name string) bool {
	_, ok := s.maker(name)
	return ok
}
