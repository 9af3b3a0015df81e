package settings

import (
	"context"
	"time"

	"steward/app"
	"steward/app/event"
	"steward/app/secrets"
	"steward/ui/place"
)

const enough = 15 * time.Second // for one question to the program

// state is what the place shows, as it was read last.
type state struct {
	endpoints []app.ModelEndpoint
	rules     []app.Rule
	grants    []app.Grant
	trusted   []app.TrustedServer
	sampling  []app.SamplingRule
	settings  app.Settings
	secrets   app.SecretState
	names     []string // of secrets; nil where they cannot be listed now
	language  string
	theme     string
	scale     string
	enter     string
	titles    string
	file      bool // the folder holds an encrypted secrets file
}

// presenter reads the state and carries out what the person asks for. It belongs to Fyne's goroutine.
type presenter struct {
	d       place.Deps
	changed func() // other state is there
	failed  func(err error)
	state   state
	loaded  bool
	looked  bool // where secrets are kept is known
	shown   bool
	stale   bool
	reading bool
	stop    func()
}

func newPresenter(d place.Deps, changed func(), failed func(error)) *presenter {
	p := &presenter{d: d, changed: changed, failed: failed, stale: true}
	p.stop = d.App.Listen(func(e event.Event) {
		if _, ok := e.(event.SettingsChanged); ok {
			d.Do(p.happened)
		}
	})
	return p
}

// closedFile says that secrets wait for the passphrase of the encrypted file.
func (p *presenter) closedFile() bool {
	return p.state.file && p.state.secrets.Kind == secrets.KindLocked
}

func (p *presenter) show() {
	p.shown = true
	if p.stale {
		p.read()
	}
}

func (p *presenter) happened() {
	p.stale = true
	if p.shown {
		p.read()
	}
}

// read reads everything anew; once more where something changed meanwhile.
func (p *presenter) read() {
	if p.reading {
		return
	}
	p.reading, p.stale = true, false
	p.d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, enough)
		defer cancel()
		s, err := readState(ctx, p.d.App)
		p.d.Do(func() {
			if err != nil {
				p.failed(err)
				return
			}
			s.secrets, s.names, s.file = p.state.secrets, p.state.names, p.state.file
			p.state, p.loaded = s, true
			p.changed()
		})
		kept := readSecrets(ctx, p.d.App) // a keyring may take two seconds to answer
		p.d.Do(func() {
			p.reading = false
			p.state.secrets, p.state.names, p.state.file, p.looked = kept.secrets, kept.names, kept.file, true
			if p.loaded {
				p.changed()
			}
			if p.stale && p.shown {
				p.read()
			}
		})
	})
}

func readState(ctx context.Context, a *app.App) (s state, err error) {
	if s.endpoints, err = a.Endpoints(ctx); err != nil {
		return s, err
	}
	if s.rules, err = a.Rules(ctx); err != nil {
		return s, err
	}
	if s.grants, err = a.Grants(ctx); err != nil {
		return s, err
	}
	s.trusted = a.TrustedServers()
	s.sampling = a.SamplingRules()
	if s.settings, err = a.Settings(ctx); err != nil {
		return s, err
	}
	for key, into := range map[string]*string{place.PreferTheme: &s.theme, place.PreferLanguage: &s.language, place.PreferScale: &s.scale, place.PreferEnter: &s.enter, place.PreferTitles: &s.titles} {
		if *into, err = a.Preference(ctx, key); err != nil {
			return s, err
		}
	}
	return s, nil
}

// readSecrets reads where secrets are kept, and which.
func readSecrets(ctx context.Context, a *app.App) (s state) {
	s.secrets = a.SecretState(ctx)
	s.file = a.HasSecretsFile()
	// A keyring that is locked or missing lists nothing; its state says so already.
	if names, err := a.SecretNames(ctx); err == nil {
		s.names = names
	}
	return s
}

// do carries something out in the background, and reads what came of it. then may be nil.
func (p *presenter) do(work func(ctx context.Context) error, then func()) {
	p.d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		err := work(ctx)
		p.d.Do(func() {
			if err != nil {
				p.failed(err)
			} else if then != nil {
				then()
			}
			p.happened()
		})
	})
}

// test asks an endpoint for its models. Nothing is stored.
func (p *presenter) test(e app.ModelEndpoint, key string, done func(models []app.ModelInfo, err error)) {
	p.d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, enough)
		defer cancel()
		models, err := p.d.App.TestEndpoint(ctx, e, key)
		p.d.Do(func() { done(models, err) })
	})
}

// save stores an endpoint and its key; done is told what came of it, so that nothing that was typed is lost.
func (p *presenter) save(e app.ModelEndpoint, key string, done func(err error)) {
	p.d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		id, err := p.d.App.SaveEndpoint(ctx, e, key)
		p.d.Do(func() {
			done(err)
			p.happened()
		})
		if err == nil {
			// What it says about its models is known from now on; where it does not answer, the menu of models says why.
			_, _ = p.d.App.ModelList(ctx, id, true)
		}
	})
}
