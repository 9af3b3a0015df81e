package app

import "context"

// Import is what a pasted text or another program's file holds. Nothing of it has been
// added or started.
type Import struct {
	Servers  []ServerEntry
	Problems []string // sentences, safe to show
}

// ImportPlace is a file of another program in which servers may be configured.
type ImportPlace struct {
	Program string // its name
	Path    string
}

// AddServer writes a new server into the data folder's list. Values that look like secrets
// go to the secrets, and ${secret:NAME} stands in their place. It is not started: review
// it first. The error says what is wrong with the entry, or that the name is taken.
func (a *App) AddServer(ctx context.Context, e ServerEntry) error { return errNotYet }

// EditServer writes a changed entry in place of the one called name; comments and fields
// that Steward does not know stay in the file. Running connections with other settings
// are ended, and what waits for a decision on them is withdrawn. What would be started
// differently must be reviewed again.
func (a *App) EditServer(ctx context.Context, name string, e ServerEntry) error { return errNotYet }

// RemoveServer takes a server out of the list and ends it. What was reviewed of it is
// forgotten; its records stay.
func (a *App) RemoveServer(ctx context.Context, name string) error { return errNotYet }

// EnableServer switches a server on or off.
func (a *App) EnableServer(ctx context.Context, name string, on bool) error { return errNotYet }

// ReloadServers reads the servers file again, after somebody changed it outside.
func (a *App) ReloadServers(ctx context.Context) error { return errNotYet }

// ParseImport reads servers from a text in the form of Claude Desktop, VS Code or any
// mcpServers file, from a single entry, or from a piece of such a file. It touches
// nothing.
func ParseImport(data []byte) (Import, error) { return Import{}, errNotYet }

// ImportPlaces lists the files of other programs that are there.
func ImportPlaces() []ImportPlace { return nil }

// ReadImport is [ParseImport] for a file.
func ReadImport(path string) (Import, error) { return Import{}, errNotYet }

// CheckServer says what is wrong with an entry, in sentences; an entry that can be used may
// have warnings.
func CheckServer(e ServerEntry) (usable bool, problems []string) { return false, nil }
