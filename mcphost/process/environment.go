package process

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// inheritedUnix are the variables of our own environment that every server gets
// on Unix. Everything else stays with us: the environment of a desktop holds API
// keys, tokens and the addresses of agents (SSH, the session bus with the keyring).
var inheritedUnix = []string{
	"HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "TMPDIR",
	"LANG", "LANGUAGE", "LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION", "LC_MEASUREMENT",
	"LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS", "XDG_RUNTIME_DIR",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
}

// inheritedWindows is the same for Windows, where names know no case.
var inheritedWindows = []string{
	"ALLUSERSPROFILE", "APPDATA", "COMMONPROGRAMFILES", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA",
	"NUMBER_OF_PROCESSORS", "OS", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
	"SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERDOMAIN", "USERNAME", "USERPROFILE", "WINDIR",
}

// inheritedEverywhere are the ways out to the network, and where package runners
// keep what they downloaded.
var inheritedEverywhere = []string{
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"NVM_DIR", "npm_config_cache", "npm_config_prefix", "npm_config_registry", "UV_CACHE_DIR", "PIPX_HOME", "PNPM_HOME", "VOLTA_HOME",
}

// Inherited returns the names of the variables a server inherits from our own
// environment, sorted. PATH is among them.
func Inherited() []string {
	names := append([]string{"PATH"}, inheritedEverywhere...)
	if runtime.GOOS == "windows" {
		names = append(names, inheritedWindows...)
	} else {
		names = append(names, inheritedUnix...)
	}
	slices.Sort(names)
	return names
}

// fold makes the names of variables comparable.
func fold(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// OwnPath returns the PATH among the variables set for a program; "" if there is none.
func OwnPath(extra map[string]string) string {
	for name, value := range extra {
		if fold(name) == "PATH" {
			return value
		}
	}
	return ""
}

// Environment returns the environment for a server, sorted: the variables of
// Inherited as our own environment has them, extra, which wins over them, and path as
// PATH (unless ""), which wins over both. Values that define shell functions are left out.
func Environment(extra map[string]string, path string) []string {
	byName := map[string]string{}
	put := func(name, value string) { byName[fold(name)] = name + "=" + value }
	for _, name := range Inherited() {
		if v, ok := os.LookupEnv(name); ok && !strings.HasPrefix(v, "()") {
			put(name, v)
		}
	}
	for name, value := range extra {
		put(name, value)
	}
	if path != "" {
		put("PATH", path)
	}
	out := make([]string, 0, len(byName))
	for _, e := range byName {
		out = append(out, e)
	}
	slices.Sort(out)
	return out
}
