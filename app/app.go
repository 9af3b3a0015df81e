package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"steward/app/chat"
	"steward/app/config"
	"steward/app/consent"
	"steward/app/event"
	"steward/app/journal"
	"steward/app/opener"
	"steward/app/secrets"
	"steward/mcphost"
	"steward/storage"
)

// workName is the folder of the data folder in which servers work.
const workName = "work"

// settingsKey is where the settings stand in the data folder.
const settingsKey = "settings"

// App is the whole program behind a front end. It owns the data folder's write lock, the
// servers it starts and every goroutine below it; Close gives all of them back. Its
// methods may be called from any goroutine.
type App struct {
	o        Options
	dir      string
	settings config.Settings

	bus     *event.Bus
	db      *storage.DB
	secrets *secrets.Store
	journal *journal.Journal
	gate    *consent.Gate
	host    *mcphost.Host
	eras    *eras
	servers *servers
	engine  *chat.Engine
	model   model
	workDir string

	desk     desk
	sampling samplingChoices
	lists    modelLists
	signing  signing
	kept     *kept
	recovery journal.Recovery
	board    board
	tasks    tasks
	context  contextState

	mu       sync.Mutex    // guards settings and what follows
	listened bool          // somebody listens
	early    []event.Event // what happened before that
	untold   sync.Map      // what was to be left out and is not there, by its name
}

// Open opens the data folder for writing and puts the program together. Nothing is
// started yet: see Start. The error is a sentence, and nothing in the folder has been
// changed where it is newer, damaged or held by somebody else.
func Open(ctx context.Context, o Options) (*App, error) {
	dir, err := dataDir(o.Data)
	if err != nil {
		return nil, err
	}
	list, err := readServers(ctx, o, dir)
	if err != nil {
		return nil, err
	}
	if err := checkLeftOut(o.Without, list); err != nil {
		return nil, err
	}
	roots, err := absolute(ctx, dir, o.Roots)
	if err != nil {
		return nil, err
	}
	a := &App{o: o, dir: dir, bus: event.NewBus()}
	a.board.bus = a.bus
	if err := a.openFolder(ctx); err != nil {
		return nil, errors.Join(err, a.Close(context.WithoutCancel(ctx)))
	}
	if err := a.assemble(ctx, list, roots); err != nil {
		return nil, errors.Join(err, a.Close(context.WithoutCancel(ctx)))
	}
	return a, nil
}

// openFolder opens what is stored: database, settings, secrets, record.
func (a *App) openFolder(ctx context.Context) (err error) {
	a.db, err = storage.Open(ctx, storage.Options{Dir: a.dir, Program: "Steward", Now: a.o.Now, OnError: a.warn("storage")})
	if err != nil {
		return err
	}
	stored, err := a.db.Setting(ctx, settingsKey)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	if a.settings, err = config.LoadSettings(stored); err != nil {
		a.notice("settings", "", err.Error()+". The defaults are used until this is mended.")
		a.settings = config.DefaultSettings()
	}
	a.secrets = secrets.Open(secrets.Options{Dir: a.dir, FolderID: a.db.FolderID, Now: a.o.Now})
	if !a.o.Passphrase.Empty() {
		if err := a.secrets.UseFile(ctx, a.o.Passphrase); err != nil {
			return err
		}
	}
	a.journal, a.recovery, err = journal.Open(ctx, journal.Options{
		Store: a.db, Dir: a.dir, Anchor: a.secrets.Anchor(), Redact: a.secrets.Redactor().Redact, Now: a.o.Now, OnDegraded: a.warn("journal"),
	})
	if err != nil {
		return err
	}
	a.tellRecovery(a.recovery)
	return nil
}

// assemble puts together what runs.
func (a *App) assemble(ctx context.Context, list serverList, roots []string) (err error) {
	if err := a.openDesk(ctx); err != nil {
		return err
	}
	if err := a.openSampling(ctx); err != nil {
		return err
	}
	if err := a.openContext(ctx); err != nil {
		return err
	}
	redact := a.secrets.Redactor()
	policy := a.o.Policy
	if policy.Expiry == 0 {
		policy.Expiry = a.settings.Expiry
	}
	if err := a.model.configure(ctx, a); err != nil {
		return err
	}
	sampling := func(server string) bool { return maySample(a.servers.now(), policy, server) }
	a.gate = consent.New(consent.Options{
		Store: a.db, Journal: a.journal, Bus: a.bus, Policy: policy, Redact: redact.Redact, Now: a.o.Now,
		Listed:   func(server string) bool { return a.servers.now().listed(server) },
		Disabled: a.toolDisabled, ReadOnly: a.toolReads,
		Sampling: sampling,
		Sample:   a.sample(),
		Known:    redact,
		Target:   a.target,
		MapHint:  a.MapHint,
		Limits:   a.SamplingLimits, SetLimits: a.SetSamplingLimits,
		Twice:   a.ToolTwice,
		OpenURL: opener.Open, CancelSignIn: a.cancelSignIn, SignInHint: a.signInHint,
	})
	if err := a.makeWorkDir(); err != nil {
		return err
	}
	a.kept = &kept{secrets: a.secrets, changed: a.tellSecrets, tell: func(message string) { a.notice("secrets", "", message) }}
	a.eras = openEras(ctx, a.db, a.warn("servers"))
	a.host = mcphost.New(mcphost.Options{
		Redact: redact.Redact, Now: a.o.Now, Client: mcphost.Implementation{Name: "steward", Title: "Steward", Version: a.o.Version},
		Eras:  a.eras,
		Asker: a.gate, SignIn: signIns{a.gate, a.kept}, Observe: a.observe, WorkDir: a.workDir,
	})
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	a.servers = &servers{
		list: list, host: a.host, journal: a.journal, tell: a.board.publish, changed: a.serverReady, expand: a.secrets.Expand, learn: redact.Learn, data: a.dir, roots: roots,
		limits: a.limits(), sampling: sampling, env: os.LookupEnv,
		ctx: run, stop: stop, entries: map[string]*serverEntry{}, slow: map[string]bool{}, told: map[string]string{},
		reviewed: func(ctx context.Context, c config.Server) (reviewState, error) {
			if a.servers.now().listed(c.Name) {
				return reviewedNow, nil
			}
			state, _, err := configReviewed(ctx, a.db, c)
			return state, err
		},
	}
	a.tellProblems(list)
	a.engine = chat.New(chat.Options{
		Store: a.db, Journal: a.journal, Bus: a.bus, Gate: a.gate, Now: a.o.Now, Redact: redact.Redact, Known: redact,
		System: func() string { return a.settingsNow().System },
		Model:  a.modelFor, Parameters: a.parameters, Connections: a.connections,
		Room: a.room, Reported: a.reported, Limit: a.toldWindow,
	})
	if err := a.engine.Recover(ctx, a.recovery); err != nil {
		return err
	}
	a.openTasks(ctx)
	if err := a.emptyBin(ctx); err != nil && !errors.Is(err, journal.ErrBroken) {
		a.notice("storage", "", err.Error()) // what is left in the bin keeps nobody from working
	}
	return nil
}

// makeWorkDir makes the folder in which servers without one of their own work. It stands in
// the data folder, whose lock this process holds, so that what a killed run left there is
// removed by the next one.
func (a *App) makeWorkDir() error {
	root := filepath.Join(a.dir, workName)
	_ = os.RemoveAll(root) // what a program left over still uses may not be removable; it is tried again next time
	err := os.MkdirAll(root, 0o700)
	if err == nil {
		a.workDir, err = os.MkdirTemp(root, "run-")
	}
	if err != nil {
		return fmt.Errorf("no working folder for the servers can be made: %w", err)
	}
	return nil
}

// Bus carries everything that happens.
func (a *App) Bus() *event.Bus { return a.bus }

// Waiting is what waits for a person.
func (a *App) Waiting() *consent.Waiting { return a.gate.Waiting() }

// Journal is the record.
func (a *App) Journal() *journal.Journal { return a.journal }

// Listen is [event.Bus.Subscribe], and tells the first listener what happened before
// anybody could listen.
func (a *App) Listen(on func(event.Event)) (cancel func()) {
	cancel = a.bus.Subscribe(on)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.early {
		a.bus.Publish(e)
	}
	a.listened, a.early = true, nil
	return cancel
}

// Start begins to start the named servers, or all, so that they are ready sooner than
// the first call that needs them; those that a person has not reviewed as they are
// configured now are not started, and a notice says so. Calls that they work on as tasks since
// an earlier run are followed on. It returns at once.
func (a *App) Start(ctx context.Context, names ...string) {
	a.servers.startReviewed(ctx, names...)
	a.followTasks(func(t *openTask) bool { return named(names, t.Server) })
}

// serverReady is told when the start of a server is over.
func (a *App) serverReady(server string) {
	a.bus.Publish(event.ServersChanged{Server: server})
	a.tellUnknownLeftOut(server)
	a.followTasks(func(t *openTask) bool { return t.Server == server })
}

// Close ends the turn's servers, writes what is queued and gives the folder back. It may
// be called on a half-open App and is bounded by ctx.
func (a *App) Close(ctx context.Context) error {
	a.board.shut()
	var errs []error
	a.closeTasks()
	if a.engine != nil {
		a.engine.Close()
		errs = append(errs, a.closeDesk(ctx))
	}
	if a.servers != nil {
		a.servers.close()
	}
	if a.host != nil {
		errs = append(errs, a.host.Close(ctx))
	}
	errs = append(errs, a.model.close())
	if a.journal != nil {
		errs = append(errs, a.journal.Close(ctx))
	}
	if a.secrets != nil {
		a.secrets.Close()
	}
	if a.workDir != "" {
		errs = append(errs, os.RemoveAll(filepath.Dir(a.workDir)))
	}
	if a.db != nil { // last: it holds the folder's lock
		errs = append(errs, a.db.Close())
	}
	return errors.Join(errs...)
}

// notice says something to a person, now or as soon as somebody listens.
func (a *App) notice(kind, server, message string) {
	a.tellNotice(event.Notice{Kind: kind, Server: server, Message: message})
}

func (a *App) tellNotice(e event.Notice) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.listened {
		a.bus.Publish(e)
		return
	}
	a.early = append(a.early, e)
}

// warn hands errors of background work to the person; nil says that the trouble is over.
func (a *App) warn(kind string) func(error) {
	return func(err error) {
		if err == nil {
			a.notice(kind, "", "Everything that could not be written before has been written now.")
			return
		}
		a.notice(kind, "", err.Error())
	}
}

// tellRecovery says what a crash left open.
func (a *App) tellRecovery(r journal.Recovery) {
	if r.Problem != "" {
		a.notice("journal", "", r.Problem)
	}
	if r.Notice != "" {
		a.notice("journal", "", r.Notice)
	}
	for _, rec := range r.Unknown {
		a.notice("recovered", rec.Server, fmt.Sprintf("Steward ended while record %d (%s) was running: it may or may not have happened.", rec.Record, what(rec)))
	}
	for _, t := range r.Tasks {
		a.notice("task_followed", t.Server, fmt.Sprintf("Steward ended while record %d (%s) was running. Its server works on it as a task, which is followed on.", t.Record.Record, what(t.Record)))
	}
	for _, rec := range r.Withdrawn {
		a.notice("recovered", rec.Server, fmt.Sprintf("Steward ended before record %d (%s) was sent: nothing was done.", rec.Record, what(rec)))
	}
}

func what(r journal.Record) string {
	switch {
	case r.Tool != "" && r.Server != "":
		return r.Tool + " on " + r.Server
	case r.Server != "":
		return string(r.Kind) + " on " + r.Server
	}
	return string(r.Kind)
}

// tellProblems says what in the servers file cannot be used.
func (a *App) tellProblems(list serverList) {
	concerns := a.o.Concerns
	if list.err != nil && concerns == nil { // else whoever asks for one of them hears it
		a.notice("servers_file", "", list.err.Error())
	}
	for _, p := range list.problems {
		if _, usable := config.Find(list.servers, p.Server); concerns == nil || usable && slices.Contains(concerns, p.Server) {
			a.tellNotice(event.Notice{Kind: "servers_file", Server: p.Server, Message: p.String(), Hint: usable})
		}
	}
}

// maySample says whether a server is told that it may ask for the model: where its entry
// says so, or where somebody answers such requests in this run. Who answers is the policy's
// matter; asked by a server that may not, the gate refuses and records it.
func maySample(list serverList, p Policy, server string) bool {
	c, _ := config.Find(list.servers, server)
	return c.Sampling || p.Sampling != "" && p.Sampling != consent.Deny
}

// limits are those of servers whose entry sets none. A start time that is the default is
// left to the host, which gives programs that download first longer.
func (a *App) limits() limits {
	now := a.settingsNow()
	l := limits{tool: a.toolTimeout(), proxy: now.Proxy, caFile: now.CAFile}
	if s := now.StartTimeout; s != config.DefaultSettings().StartTimeout {
		l.start = s
	}
	return l
}

func (a *App) toolTimeout() time.Duration {
	if a.o.ToolTimeout > 0 {
		return a.o.ToolTimeout
	}
	return a.settingsNow().ToolTimeout
}

func (a *App) settingsNow() config.Settings {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.settings
}

// board holds back what servers say until the turn's first event has been published.
type board struct {
	bus  *event.Bus
	mu   sync.Mutex
	open bool
	gone bool
	held []event.Event
}

func (b *board) publish(e event.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.gone:
	case b.open:
		b.bus.Publish(e)
	default:
		b.held = append(b.held, e)
	}
}

// release publishes what was held, and everything after it at once.
func (b *board) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.held {
		b.bus.Publish(e)
	}
	b.held, b.open = nil, true
}

// shut drops what comes while the program ends: a server that stops then is no news.
func (b *board) shut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = true
}
