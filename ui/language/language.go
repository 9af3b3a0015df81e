// Package language gives the window its language: it hands Steward's texts to Fyne's lang package, whose lang.X then
// finds them by key, and words the messages of the core.
package language

import (
	"encoding/json"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
	"golang.org/x/text/language"

	"steward/app"
	"steward/assets"
	"steward/ui/sentence"
)

// FollowSystem asks for the system's language; the other choices are those of assets.Languages.
const FollowSystem = "system"

const (
	english = "en"
	chinese = "zh-Hans"
	codeKey = "language.code" // its text is the language's own name, which shows what is in use
)

// Load puts Steward's texts, and Fyne's own words in its dialogs and menus, into the chosen language. It must be called
// before the first widget is made and is not safe beside lang.X; widgets that exist keep their words.
//
// Fyne decides by the system's locale alone which language it looks in. Where that is another than the chosen one,
// the chosen texts are put in its place.
func Load(choice string) error {
	code := choice
	if choice == FollowSystem || choice == "" {
		code = systemLanguage()
	}
	texts, err := assets.Texts(code)
	if err != nil {
		return err
	}
	data, err := json.Marshal(texts)
	if err != nil {
		return fmt.Errorf("the texts in the language %q cannot be handed on: %w", code, err)
	}
	// Fyne prefers the name that fits the system's locale best, and no name fits better than the locale's own.
	names := []string{code}
	if system := lang.SystemLocale().LanguageString(); system != code {
		if _, err := language.Parse(system); err == nil { // a locale such as "C" names no language
			names = append(names, system)
		}
	}
	for _, name := range names {
		if err := add(name, data); err != nil {
			return err
		}
	}
	if Current() == code {
		return nil
	}
	if err := add(english, data); err != nil { // where Fyne looks when it knows no better
		return err
	}
	if Current() == code {
		return nil
	}
	return fmt.Errorf("the language %q cannot be shown; the texts stay in %q", code, Current())
}

func add(name string, data []byte) error {
	if err := lang.AddTranslations(fyne.NewStaticResource(name+".json", data)); err != nil {
		return fmt.Errorf("the texts cannot be put in the place of the language %q: %w", name, err)
	}
	return nil
}

// Current is the language in use, one of assets.Languages, or "" before [Load].
func Current() string { return lang.X(codeKey, "") }

// systemLanguage is Chinese wherever the system speaks Chinese of any kind, else English.
func systemLanguage() string {
	tag, err := language.Parse(lang.SystemLocale().LanguageString())
	if err != nil {
		return english
	}
	if base, _ := tag.Base(); base.String() == "zh" {
		return chinese
	}
	return english
}

// Message words an error of the core for the person. Its parts may be foreign text: show it through ui/text only.
func Message(err error) string {
	m := app.Explain(err)
	data := map[string]string{"detail": ""}
	for name, value := range m.Args {
		data[name] = value
	}
	data["detail"] = sentence.Worded(data["detail"])
	return lang.X("message."+m.Key, "{{.detail}}", data)
}
