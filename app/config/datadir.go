package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// DataDir is where the program's data folder stands unless --data says
// otherwise. It only names the folder; nothing is made.
func DataDir() (string, error) {
	return dataDir(runtime.GOOS, os.Getenv)
}

func dataDir(system string, env func(string) string) (string, error) {
	home := env("HOME")
	switch system {
	case "windows":
		for _, name := range []string{"LOCALAPPDATA", "APPDATA"} {
			if dir := env(name); filepath.IsAbs(dir) {
				return filepath.Join(dir, "Steward"), nil
			}
		}
		return "", errors.New("LOCALAPPDATA is not set, so there is no place for the data folder; name one with --data DIR")
	case "darwin":
		if filepath.IsAbs(home) {
			return filepath.Join(home, "Library", "Application Support", "Steward"), nil
		}
	default:
		// XDG Base Directory Specification: a relative path is invalid and is ignored.
		if dir := env("XDG_DATA_HOME"); filepath.IsAbs(dir) {
			return filepath.Join(dir, "steward"), nil
		}
		if filepath.IsAbs(home) {
			return filepath.Join(home, ".local", "share", "steward"), nil
		}
	}
	return "", fmt.Errorf("HOME is %q, which is no full path, so there is no place for the data folder; set HOME or name a folder with --data DIR", home)
}
