package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/ui/button"
	"steward/ui/form"
)

// Fields of the network.
const (
	fieldProxy         = "proxy"
	fieldProxyPassword = "proxy_password"
	fieldCAFile        = "ca_file"
)

// reach shows how servers that are addresses are reached.
func (s *Place) reach() []fyne.CanvasObject {
	now := s.p.state.settings
	written := func(v string) json.RawMessage {
		raw, err := json.Marshal(v)
		if v == "" || err != nil {
			return nil
		}
		return raw
	}
	f := form.New([]form.Field{
		{
			Name: fieldProxy, Title: lang.X("settings.proxy", "Proxy"), Kind: form.String, Default: written(now.Proxy), Placeholder: "http://proxy:3128",
			Description: lang.X("settings.proxy_help", "Empty takes what the system's environment says (HTTPS_PROXY); direct takes none. If it wants a user, write http://NAME@proxy:3128. This computer itself is always reached directly."),
		},
		{
			Name: fieldProxyPassword, Title: lang.X("settings.proxy_password", "The user's password at the proxy"), Kind: form.Secret, Own: true,
			Description: lang.X("settings.proxy_password_help", "It goes to where your secrets are kept; its name stands in the address in its place. Empty keeps the one that is stored."),
		},
		{
			Name: fieldCAFile, Title: lang.X("settings.ca_file", "File of further certificates"), Kind: form.String, Default: written(now.CAFile), Placeholder: "/etc/ssl/company.pem",
			Description: lang.X("settings.ca_file_help", "A PEM file, as your company gives it out. What it certifies is trusted besides what the system trusts."),
		},
	}, labels)
	f.OnShortcut = s.d.Shortcut
	if s.network != nil && s.network.Touched() { // somebody looked at another section meanwhile
		f.Restore(s.network.State())
	}
	s.network = f
	save := button.New(button.Strong, "", lang.X("common.save", "Save"), func() { s.saveReach(f) })
	return []fyne.CanvasObject{
		note(lang.X("settings.network_note", "For servers that are addresses, and for models. It holds when a server is next started and when a model is next asked; an entry of servers.json and a model endpoint may say otherwise for themselves.")),
		&fyne.Container{Layout: fixedWidth{wide}, Objects: []fyne.CanvasObject{f}}, beside(save),
	}
}

func (s *Place) saveReach(f *form.Form) {
	if !f.Check() {
		return
	}
	next, err := reached(s.p.state.settings, f.Values())
	if err != nil {
		s.failed(err)
		return
	}
	password, err := textOf(f.Values(), fieldProxyPassword)
	if err != nil {
		s.failed(err)
		return
	}
	s.p.do(func(ctx context.Context) error {
		if password != "" {
			var err error
			if next.Proxy, err = s.d.App.KeepProxyPassword(ctx, next.Proxy, password); err != nil {
				return err
			}
		}
		return s.d.App.SaveSettings(ctx, next)
	}, func() {
		s.network = nil
		s.d.Layer.Toast(lang.X("settings.saved", "Saved"))
	})
}

// reached puts a form's values into settings.
func reached(s app.Settings, values map[string]json.RawMessage) (app.Settings, error) {
	for name, into := range map[string]*string{fieldProxy: &s.Proxy, fieldCAFile: &s.CAFile} {
		text, err := textOf(values, name)
		if err != nil {
			return s, err
		}
		*into = strings.TrimSpace(text)
	}
	return s, nil
}

// textOf is what was typed into a field, "" for nothing.
func textOf(values map[string]json.RawMessage, name string) (text string, err error) {
	if raw := values[name]; raw != nil {
		if err := json.Unmarshal(raw, &text); err != nil {
			return "", fmt.Errorf("the value of %s cannot be used: %w", name, err)
		}
	}
	return text, nil
}
