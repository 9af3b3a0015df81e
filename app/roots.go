package app

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// How much of a folder is looked at for keys.
const (
	rootDepth = 3
	rootNames = 5000
)

// Folders and files that hold keys by their names.
var (
	keyFolders = []string{".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store", ".docker", "gcloud", "keyrings"}
	keyFiles   = []string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", "_netrc", ".pgpass", ".git-credentials", "credentials.json", "wallet.dat"}
	keyEndings = []string{".pem", ".key", ".p12", ".pfx", ".kdbx", ".keystore", ".jks"}
)

// CheckRoot says why a folder must not be shared: it is none, it is Steward's own or holds
// it, or there are private keys in it. path is returned absolute. It reads at most a few
// thousand names.
func (a *App) CheckRoot(ctx context.Context, path string) (absolute string, err error) {
	return checkRoot(ctx, a.dir, path)
}

// checkRoot is [App.CheckRoot] for a data folder, which need not exist yet. It is the one
// check for all folders: a conversation's, a server's own and those of the command line.
func checkRoot(ctx context.Context, data, path string) (absolute string, err error) {
	refuse := func(format string, parts ...any) (string, error) {
		return "", &Message{Key: "root_refused", Args: args("folder", reveal(path), "detail", fmt.Sprintf(format, parts...))}
	}
	absolute, err = filepath.Abs(path)
	if err == nil {
		err = isFolder(absolute)
	}
	if err != nil {
		return refuse("%v", err)
	}
	real, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return refuse("the folder %s cannot be shared: %v", absolute, err)
	}
	own := realFolder(data)
	switch {
	case real == filepath.Dir(real):
		return refuse("%s is the whole disk. Choose the folders in it that the servers need.", absolute)
	case inside(real, own) || inside(own, real):
		return refuse("%s holds Steward's own data, or stands in it. Choose another folder.", absolute)
	}
	key, err := findKey(ctx, real)
	switch {
	case err != nil:
		return refuse("the folder %s cannot be looked at: %v", absolute, err)
	case key != "":
		return refuse("There are keys in %s (%s). Choose the folders in it that the servers need; what is in a shared folder cannot be left out.", absolute, key)
	}
	return absolute, nil
}

// realFolder resolves the links in a path as far as it exists.
func realFolder(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	if above := filepath.Dir(path); above != path {
		return filepath.Join(realFolder(above), filepath.Base(path))
	}
	return path
}

// inside says whether path is folder or stands below it.
func inside(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// findKey names the first thing in a folder that holds keys; "" where nothing was found.
func findKey(ctx context.Context, folder string) (found string, err error) {
	for up := folder; up != filepath.Dir(up); up = filepath.Dir(up) { // what stands in such a folder is no better
		if slices.Contains(keyFolders, strings.ToLower(filepath.Base(up))) {
			return filepath.Base(up), nil
		}
	}
	seen := 0
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			if path == folder {
				return err
			}
			return fs.SkipDir // what cannot be read here is no more readable for the servers
		}
		if seen++; seen > rootNames {
			return fs.SkipAll
		}
		rel, relErr := filepath.Rel(folder, path)
		if relErr != nil {
			return relErr
		}
		name := strings.ToLower(d.Name())
		switch {
		case d.IsDir() && path != folder && slices.Contains(keyFolders, name), !d.IsDir() && isKeyFile(path, name):
			found = rel
			return fs.SkipAll
		case d.IsDir() && (strings.Count(rel, string(filepath.Separator)) >= rootDepth || name == "node_modules" || name == ".git"):
			return fs.SkipDir
		}
		return nil
	})
	return found, err
}

// isKeyFile judges by the name, and a .pem or .key by its first bytes as well: a public
// certificate is no key.
func isKeyFile(path, name string) bool {
	if slices.Contains(keyFiles, name) {
		return true
	}
	ending := strings.ToLower(filepath.Ext(name))
	if !slices.Contains(keyEndings, ending) {
		return false
	}
	if ending != ".pem" && ending != ".key" {
		return true
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // only read
	head := make([]byte, 4096)
	n, _ := f.Read(head) // what cannot be read holds nothing that a server could read
	return strings.Contains(string(head[:n]), "PRIVATE KEY")
}
