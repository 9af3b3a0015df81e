package storage

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// oldestEngine is SQLite 3.51.3: before it, resetting the WAL while another
// connection checkpoints could corrupt the file (sqlite.org/wal.html).
const oldestEngine = 3051003

// busyMillis is how long one statement waits for another process's lock. The
// writer waits as long as its callers do, by trying again (writer.open).
const busyMillis = 5000

// settings holds for every connection, whatever opened it; each is read back,
// because SQLite ignores a pragma that it does not know or cannot obey.
//
//   - synchronous: the driver is built with NORMAL as default in WAL mode, with
//     which a committed row can vanish when the power fails.
//   - foreign_keys and secure_delete: what is deleted must be gone entirely.
//   - trusted_schema, cell_size_check: a file may have been made by somebody else.
var settings = []struct {
	name, set string
	want      int64
}{
	{"busy_timeout", "5000", busyMillis},
	{"synchronous", "FULL", 2},
	{"foreign_keys", "ON", 1},
	{"trusted_schema", "OFF", 0},
	{"cell_size_check", "ON", 1},
	{"secure_delete", "ON", 1},
	{"temp_store", "MEMORY", 2},
}

// connector opens connections with one way of naming the file. It is used in
// place of sql.Register, which would leave a global behind.
type connector struct {
	driver *sqlite3.SQLiteDriver
	// source names the file for the next connection.
	source func() origin
}

// origin is one way of naming the file, and another to use where the file
// cannot be read by the first ("" for none).
type origin struct{ dsn, instead string }

func fixed(dsn string) func() origin { return func() origin { return origin{dsn: dsn} } }

func newConnector(source func() origin) *connector {
	return &connector{driver: &sqlite3.SQLiteDriver{ConnectHook: configure}, source: source}
}

func (c *connector) Driver() driver.Driver { return c.driver }

func (c *connector) Connect(context.Context) (driver.Conn, error) {
	from := c.source()
	conn, err := c.driver.Open(from.dsn)
	if err != nil && from.instead != "" { // configure has read the file
		conn, err = c.driver.Open(from.instead)
	}
	return conn, err
}

// configure sets and asserts the settings of a new connection.
func configure(conn *sqlite3.SQLiteConn) error {
	for _, s := range settings {
		if _, err := conn.Exec("PRAGMA "+s.name+"="+s.set, nil); err != nil {
			return fmt.Errorf("setting %s of the data file: %w", s.name, err)
		}
		got, err := pragma(conn, s.name)
		if err != nil {
			return fmt.Errorf("reading %s of the data file back: %w", s.name, err)
		}
		if got != s.want {
			return fmt.Errorf("the data file's %s is %d although %d was asked for; this build of SQLite cannot be trusted with it", s.name, got, s.want)
		}
	}
	return nil
}

// pragma reads a numeric pragma on a bare driver connection.
func pragma(conn *sqlite3.SQLiteConn, name string) (n int64, err error) {
	rows, err := conn.Query("PRAGMA "+name, nil)
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
	}()
	row := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(row); err != nil {
		if err == io.EOF {
			return 0, fmt.Errorf("this build of SQLite does not know the pragma %s", name)
		}
		return 0, err
	}
	n, ok := row[0].(int64)
	if !ok {
		return 0, fmt.Errorf("the pragma %s gave %v", name, row[0])
	}
	return n, nil
}

// checkEngine refuses an SQLite library with a known corruption fault.
func checkEngine() error {
	text, number, _ := sqlite3.Version()
	if number < oldestEngine {
		return fmt.Errorf("the SQLite library is %s; at least 3.51.3 is needed, because earlier ones can corrupt the data file", text)
	}
	return nil
}

// fileURI names path for SQLite with query parameters (sqlite.org/uri.html);
// every odd character of the path is escaped. The driver keeps prepared
// statements, which is half the time of a short query.
func fileURI(path string, query string) string {
	path = filepath.ToSlash(path)
	if runtime.GOOS == "windows" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	escaped := (&url.URL{Path: path}).EscapedPath()
	return "file://" + escaped + "?" + query + "&_stmt_cache_size=64"
}

// openHandle opens a pool of at most size connections, of which idle are kept,
// and tries the first.
func openHandle(ctx context.Context, c *connector, size, idle int) (*sql.DB, error) {
	handle := sql.OpenDB(c)
	handle.SetMaxOpenConns(size)
	handle.SetMaxIdleConns(idle)
	if err := handle.PingContext(ctx); err != nil {
		_ = handle.Close() // the ping's error says more
		return nil, err
	}
	return handle, nil
}
