package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// Settings are what the person chose for the program as a whole. Secrets are
// not among them: KeyName only names one.
type Settings struct {
	BaseURL   string // of an OpenAI-compatible endpoint; "" is the demo model
	Model     string
	KeyName   string // secret that holds the endpoint's key; "" for none
	Profile   string // endpoint profile; "" is found from the address
	AllowHTTP bool   // plain http to an endpoint beyond this computer

	MaxRounds    int           // model requests in one turn; 25
	ToolTimeout  time.Duration // for one tool call without progress; 60 s
	StartTimeout time.Duration // for a server to become ready; 30 s
	Expiry       time.Duration // of an approval nobody answers; 10 min

	MaxTokens   int      // of one answer; 0 is the endpoint's own limit
	Temperature *float64 // nil is the endpoint's own
	System      string   // instructions that every conversation begins with

	// Proxy and CAFile say how servers over HTTP are reached whose entry says nothing of
	// it: see [CheckProxy]; a file of certificates trusted besides the system's.
	Proxy, CAFile string

	unknown map[string]json.RawMessage // of a newer version; kept when written again
}

// stored is the form on disk: times as text such as "1m0s".
type stored struct {
	BaseURL      string   `json:"baseURL,omitempty"`
	Model        string   `json:"model,omitempty"`
	KeyName      string   `json:"keyName,omitempty"`
	Profile      string   `json:"profile,omitempty"`
	AllowHTTP    bool     `json:"allowHTTP,omitempty"`
	MaxRounds    int      `json:"maxRounds,omitempty"`
	ToolTimeout  string   `json:"toolTimeout,omitempty"`
	StartTimeout string   `json:"startTimeout,omitempty"`
	Expiry       string   `json:"expiry,omitempty"`
	MaxTokens    int      `json:"maxTokens,omitempty"`
	Temperature  *float64 `json:"temperature,omitempty"`
	System       string   `json:"system,omitempty"`
	Proxy        string   `json:"proxy,omitempty"`
	CAFile       string   `json:"caFile,omitempty"`
}

// DefaultSettings are those of a new folder.
func DefaultSettings() Settings {
	return Settings{MaxRounds: 25, ToolTimeout: time.Minute, StartTimeout: 30 * time.Second, Expiry: 10 * time.Minute}
}

// LoadSettings reads what [Settings.Encode] wrote; nil or empty gives the
// defaults, and so does every field that is not there. A value that cannot be
// used is an error that names it.
func LoadSettings(data json.RawMessage) (Settings, error) {
	s := DefaultSettings()
	if len(data) == 0 || string(data) == "null" {
		return s, nil
	}
	var d stored
	if err := json.Unmarshal(data, &d); err != nil {
		return s, fmt.Errorf("the stored settings cannot be read: %w", err)
	}
	if err := json.Unmarshal(data, &s.unknown); err != nil {
		return s, fmt.Errorf("the stored settings cannot be read: %w", err)
	}
	s.BaseURL, s.Model, s.KeyName, s.Profile, s.AllowHTTP = d.BaseURL, d.Model, d.KeyName, d.Profile, d.AllowHTTP
	s.MaxTokens, s.Temperature, s.System = d.MaxTokens, d.Temperature, d.System
	s.Proxy, s.CAFile = d.Proxy, d.CAFile
	if d.MaxRounds != 0 {
		s.MaxRounds = d.MaxRounds
	}
	for _, t := range []struct {
		name, text string
		into       *time.Duration
	}{
		{"toolTimeout", d.ToolTimeout, &s.ToolTimeout},
		{"startTimeout", d.StartTimeout, &s.StartTimeout},
		{"expiry", d.Expiry, &s.Expiry},
	} {
		if t.text == "" {
			continue
		}
		v, err := time.ParseDuration(t.text)
		if err != nil {
			return s, fmt.Errorf("the setting %s is %q, which is no time such as \"60s\"", t.name, t.text)
		}
		*t.into = v
	}
	return s, s.Check()
}

// Check says what in the settings cannot be used.
func (s Settings) Check() error {
	if s.BaseURL != "" {
		u, err := url.Parse(s.BaseURL)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("the setting baseURL is %q, but must be an address such as https://host/v1", shorten(byForm.Redact(s.BaseURL)))
		}
		if u.User != nil {
			return fmt.Errorf("the setting baseURL holds a user name or password; store the key as a secret instead")
		}
	}
	if s.MaxRounds < 1 || s.MaxRounds > 1000 {
		return fmt.Errorf("the setting maxRounds is %d, but must be 1 to 1000", s.MaxRounds)
	}
	for _, t := range []struct {
		name string
		d    time.Duration
	}{{"toolTimeout", s.ToolTimeout}, {"startTimeout", s.StartTimeout}, {"expiry", s.Expiry}} {
		if t.d < minTimeout || t.d > maxTimeout {
			return fmt.Errorf("the setting %s is %s, but must be %s to %s", t.name, t.d, minTimeout, maxTimeout)
		}
	}
	if t := s.Temperature; t != nil && !(*t >= 0 && *t <= math.MaxFloat32) {
		return fmt.Errorf("the setting temperature is %v, but must be a number from 0", *t)
	}
	if why, what := CheckProxy(s.Proxy); why != "" {
		return fmt.Errorf("the setting proxy %s; %s", why, what)
	}
	if s.CAFile != "" && !filepath.IsAbs(s.CAFile) && !strings.HasPrefix(s.CAFile, "~/") {
		return fmt.Errorf("the setting caFile is %q, but must be the whole path of a file", shorten(s.CAFile))
	}
	if s.MaxTokens < 0 {
		return fmt.Errorf("the setting maxTokens is %d, but must not be negative", s.MaxTokens)
	}
	return nil
}

// Encode gives the stored form, with what a newer version had added; nil for
// settings that [Settings.Check] refuses for their temperature.
func (s Settings) Encode() json.RawMessage {
	data, err := json.Marshal(stored{
		BaseURL: s.BaseURL, Model: s.Model, KeyName: s.KeyName, Profile: s.Profile, AllowHTTP: s.AllowHTTP,
		MaxRounds: s.MaxRounds, ToolTimeout: s.ToolTimeout.String(), StartTimeout: s.StartTimeout.String(), Expiry: s.Expiry.String(),
		MaxTokens: s.MaxTokens, Temperature: s.Temperature, System: s.System,
		Proxy: s.Proxy, CAFile: s.CAFile,
	})
	if err != nil {
		return nil
	}
	if len(s.unknown) == 0 {
		return data
	}
	all := maps.Clone(s.unknown)
	for _, known := range []string{"baseURL", "model", "keyName", "profile", "allowHTTP", "maxRounds", "toolTimeout", "startTimeout", "expiry", "maxTokens", "temperature", "system", "proxy", "caFile"} {
		delete(all, known)
	}
	var own map[string]json.RawMessage
	if err := json.Unmarshal(data, &own); err != nil {
		return data
	}
	maps.Copy(all, own)
	merged, err := json.Marshal(all)
	if err != nil {
		return data
	}
	return merged
}
