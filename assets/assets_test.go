package assets

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"text/template"
	"text/template/parse"
)

func TestEveryTextStandsInEveryLanguage(t *testing.T) {
	t.Parallel()
	all := make(map[string]map[string]string)
	for _, language := range Languages() {
		texts, err := Texts(language)
		if err != nil {
			t.Fatal(err)
		}
		if texts["language.code"] != language {
			t.Errorf("the texts in %s call themselves %q", language, texts["language.code"])
		}
		all[language] = texts
	}
	for _, complaint := range differences(all) {
		t.Error(complaint)
	}
}

// differences tells what one language has and another lacks: a key, a text, an argument.
func differences(all map[string]map[string]string) []string {
	var found []string
	keys := make(map[string]bool)
	for _, texts := range all {
		for key := range texts {
			keys[key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		arguments := ""
		for i, language := range slices.Sorted(maps.Keys(all)) {
			text, ok := all[language][key]
			switch {
			case !ok:
				found = append(found, language+" has no text for "+key)
				continue
			case strings.TrimSpace(text) == "":
				found = append(found, language+" has an empty text for "+key)
			}
			used, err := argumentsOf(text)
			if err != nil {
				found = append(found, language+" has a broken text for "+key+": "+err.Error())
			}
			if i > 0 && used != arguments {
				found = append(found, key+" uses "+used+" in "+language+" but "+arguments+" before")
			}
			arguments = used
		}
	}
	return found
}

// argumentsOf lists what a text puts in, each once: a language may name an argument twice, or in another order.
func argumentsOf(text string) (string, error) {
	parsed, err := template.New("").Parse(text)
	if err != nil {
		return "", err
	}
	names := make(map[string]bool)
	for _, node := range parsed.Root.Nodes {
		if action, ok := node.(*parse.ActionNode); ok {
			names[action.String()] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), " "), nil
}

func TestDifferencesAreNoticed(t *testing.T) {
	t.Parallel()
	for name, zh := range map[string]map[string]string{
		"a key is missing":      {},
		"a text is empty":       {"a": " "},
		"an argument is lost":   {"a": "有"},
		"an argument is new":    {"a": "有 {{.count}} {{.more}}"},
		"a template is broken":  {"a": "有 {{.count}"},
		"a key is in one alone": {"a": "有 {{.count}}", "b": "二"},
	} {
		if len(differences(map[string]map[string]string{"en": {"a": "{{.count}} here"}, "zh": zh})) == 0 {
			t.Errorf("%s and nothing is said", name)
		}
	}
	fine := map[string]map[string]string{"en": {"a": "{{.x}} of {{.y}}"}, "zh": {"a": "{{.y}} 之 {{.x}}"}}
	if found := differences(fine); len(found) != 0 {
		t.Errorf("nothing is wrong but: %v", found)
	}
}

// TestChineseIsChinese finds texts that were left in English.
func TestChineseIsChinese(t *testing.T) {
	t.Parallel()
	texts, err := Texts("zh-Hans")
	if err != nil {
		t.Fatal(err)
	}
	alike := []string{"language.code", "approval.json", "message.other"}
	han := regexp.MustCompile(`\p{Han}`)
	for key, text := range texts {
		if !han.MatchString(text) && !slices.Contains(alike, key) {
			t.Errorf("%s is %q in Chinese", key, text)
		}
		if strings.Contains(text, "您") {
			t.Errorf("%s says 您 where all else says 你: %q", key, text)
		}
	}
}

func TestTextsRefuse(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"", "de", "../icons", "zh"} {
		if _, err := Texts(language); err == nil || !strings.Contains(err.Error(), language) {
			t.Errorf("texts in %q: %v", language, err)
		}
	}
	twice := fstest.MapFS{
		"x/a.json": {Data: []byte(`{"k":"1"}`)},
		"x/b.json": {Data: []byte(`{"k":"2"}`)},
	}
	if _, err := merge(twice, "x"); err == nil || !strings.Contains(err.Error(), `"k"`) {
		t.Errorf("a key of two places: %v", err)
	}
	nested := fstest.MapFS{"x/a.json": {Data: []byte(`{"k":{"other":"1"}}`)}}
	if _, err := merge(nested, "x"); err == nil || !strings.Contains(err.Error(), "a.json") {
		t.Errorf("a file of another form: %v", err)
	}
}

func TestIcons(t *testing.T) {
	t.Parallel()
	colour := regexp.MustCompile(`#[0-9a-fA-F]+|stroke`)
	for _, name := range IconNames() {
		svg, ok := Icon(name)
		if !ok {
			t.Fatalf("the icon %s is listed but not there", name)
		}
		if !bytes.Contains(svg, []byte(`viewBox="0 0 24 24"`)) {
			t.Errorf("the icon %s is not on the grid of 24", name)
		}
		for _, found := range colour.FindAllString(string(svg), -1) {
			if found != "#000000" {
				t.Errorf("the icon %s has %s, which would stay when it is recoloured", name, found)
			}
		}
	}
	if _, ok := Icon("no-such-icon"); ok {
		t.Error("an icon that is not there is found")
	}
}

func TestLicenceNamesTheSources(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"Inter", "JetBrains Mono", "Noto Sans CJK SC", "SIL OPEN FONT LICENSE Version 1.1"} {
		if !strings.Contains(FontLicense(), part) {
			t.Errorf("the licence of the fonts says nothing of %s", part)
		}
	}
}
