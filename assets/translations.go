package assets

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// Each language has a directory, each place of the window a file in it, so that two people who work on two places
// meet in no file. A file maps dotted keys ("chat.send") to texts; {{.name}} stands for an argument.
//
//go:embed translations/*/*.json
var translations embed.FS

// Languages lists the languages there are, by the names that Fyne matches: English and simplified Chinese.
func Languages() []string { return []string{"en", "zh-Hans"} }

// Texts gives every text of a language by its key. A key that two places define is an error, and so is a language
// that is none of [Languages].
func Texts(language string) (map[string]string, error) {
	if !slices.Contains(Languages(), language) {
		return nil, fmt.Errorf("there are no texts in the language %q; there are texts in %q", language, Languages())
	}
	return merge(translations, path.Join("translations", language))
}

func merge(files fs.FS, dir string) (map[string]string, error) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, fmt.Errorf("the translations cannot be read: %w", err)
	}
	all := make(map[string]string)
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("the translations cannot be read: %w", err)
		}
		var texts map[string]string
		if err := json.Unmarshal(data, &texts); err != nil {
			return nil, fmt.Errorf("the translations in %s are no map of keys to texts: %w", name, err)
		}
		for key, text := range texts {
			if _, twice := all[key]; twice {
				return nil, fmt.Errorf("the key %q stands in %s and in another file beside it", key, name)
			}
			all[key] = text
		}
	}
	return all, nil
}
