package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Limits of Compile and Validate. What is beyond them is refused, never guessed.
const (
	MaxSchemaBytes  = 1 << 20         // of a schema's text
	MaxSchemaDepth  = 128             // of nesting in a schema's text
	MaxSubschemas   = 5000            // in one schema
	MaxSchemaValues = 50_000          // JSON values in one schema, members of enum among them
	MaxCheckTime    = 2 * time.Second // of one Validate
)

var (
	// ErrDialect is the errors.Is target of a schema in a dialect that is not supported.
	ErrDialect = errors.New("unsupported JSON Schema dialect")
	// ErrRemote is the errors.Is target of a schema that refers to something outside itself.
	ErrRemote = errors.New("remote reference")
)

// dialectError and remoteError are sentences that errors.Is knows.
type dialectError string

func (e dialectError) Error() string        { return string(e) }
func (e dialectError) Is(target error) bool { return target == ErrDialect }

type remoteError string

func (e remoteError) Error() string        { return string(e) }
func (e remoteError) Is(target error) bool { return target == ErrRemote }

// Schema is a compiled JSON Schema. It is safe for use by several goroutines;
// concurrent calls of Validate wait for each other.
type Schema struct {
	compiled *jsonschema.Schema
	dialect  string
	warnings []string
	inPlace  int // subschemas that apply others to the same value

	mu    sync.Mutex // guards meter, which one Validate uses at a time
	meter *meter
}

// Dialect names the dialect the schema was compiled in, for example "2020-12" or
// "draft-07".
func (s *Schema) Dialect() string { return s.dialect }

// Warnings says, in sentences, what of the schema is not enforced: patterns that Go's
// regular expressions cannot express, keywords whose value is null, names that
// appear twice. The caller must not change the slice.
func (s *Schema) Warnings() []string { return s.warnings }

// base is the address a schema has while it is compiled. Nothing is ever loaded.
const base = "schema:///root.json"

// Compile reads a JSON Schema. "$schema" chooses the dialect: 2020-12 (the default,
// as MCP demands), 2019-09, draft-07, draft-06 or draft-04; another is [ErrDialect].
// A "$ref" to anything outside the schema is [ErrRemote] and never fetched. A schema
// beyond the limits above is [ErrLimit]. Other errors say why it is not a schema.
//
// It is lenient where real servers are careless and nothing is lost: a pattern Go
// cannot compile, and a keyword whose value is null, are left out with a warning; a
// schema that names no dialect and is none of 2020-12 is read as draft-07 or draft-04.
func Compile(raw json.RawMessage) (*Schema, error) {
	if len(raw) > MaxSchemaBytes {
		return nil, limitError(fmt.Sprintf("the schema is %d bytes long; at most %d are read", len(raw), MaxSchemaBytes))
	}
	if err := check(raw); err != nil {
		return nil, fmt.Errorf("the schema is %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("the schema cannot be read: %w", err)
	}
	switch doc.(type) {
	case map[string]any, bool:
	default:
		return nil, fmt.Errorf("a schema must be a JSON object (or true or false), not %s", article(typeName(doc)))
	}
	declared := declares(doc) // dialectOf takes it away
	dialect, draft, err := dialectOf(doc)
	if err != nil {
		return nil, err
	}
	compiled, err := compileAs(raw, doc, dialect, draft)
	var invalid *jsonschema.SchemaValidationError
	if err == nil || declared || !errors.As(err, &invalid) {
		return compiled, told(err)
	}
	// Generators older than 2020-12 often do not say which dialect they write.
	for _, old := range []struct {
		name  string
		draft *jsonschema.Draft
	}{{"draft-07", jsonschema.Draft7}, {"draft-04", jsonschema.Draft4}} {
		again, uerr := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if uerr != nil {
			return nil, fmt.Errorf("the schema cannot be read: %w", uerr)
		}
		if s, oerr := compileAs(raw, again, old.name, old.draft); oerr == nil {
			s.warnings = append(s.warnings, "it does not say that it is written in "+old.name+", and is read as that")
			return s, nil
		}
	}
	return nil, told(err)
}

// declares tells whether a schema says which dialect it is written in.
func declares(doc any) bool {
	obj, _ := doc.(map[string]any)
	return obj["$schema"] != nil
}

// plain is an error of the library together with the sentence for a person.
type plain struct{ cause, sentence error }

func (p *plain) Error() string { return p.sentence.Error() }
func (p *plain) Unwrap() error { return p.cause }

// told is the sentence alone.
func told(err error) error {
	var p *plain
	if errors.As(err, &p) {
		return p.sentence
	}
	return err
}

// compileAs compiles a document, which it changes, in one dialect.
func compileAs(raw json.RawMessage, doc any, dialect string, draft *jsonschema.Draft) (*Schema, error) {
	meter := &meter{}
	patterns := newPatterns(meter)
	w := &walker{patterns: patterns, dialect: draft}
	if err := w.prepare(raw, doc); err != nil {
		return nil, err
	}
	compiled, err := compile(doc, draft, w.roots, patterns, meter)
	if err != nil {
		return nil, &plain{err, explainCompile(err, w.refs)}
	}
	patterns.sealed = true
	warnings := slices.Concat(w.warnings, patterns.warnings)
	return &Schema{compiled: compiled, dialect: dialect, warnings: warnings, inPlace: w.inPlace, meter: meter}, nil
}

// compile hands a prepared document to the library and puts it under the meter. A fault
// of the library becomes an error.
func compile(doc any, draft *jsonschema.Draft, places []string, patterns *patterns, m *meter) (compiled *jsonschema.Schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			compiled, err = nil, fmt.Errorf("the schema cannot be compiled: %v", r)
		}
	}()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(draft)
	c.UseLoader(refuseLoader{})
	c.UseRegexpEngine(patterns.engine)
	if err := c.AddResource(base, doc); err != nil {
		return nil, err
	}
	if compiled, err = c.Compile(base); err != nil {
		return nil, err
	}
	// Definitions that nothing uses are not compiled by now. Their references are
	// looked at all the same: a schema is either closed or refused.
	roots := []*jsonschema.Schema{compiled}
	for _, place := range places {
		root, err := c.Compile(base + "#" + escapeFragment(place))
		if err != nil {
			return nil, err
		}
		roots = append(roots, root)
	}
	install(m, roots)
	return compiled, nil
}

// escapeFragment writes a JSON Pointer as a URI fragment (RFC 6901, section 6).
func escapeFragment(pointer string) string {
	parts := strings.Split(pointer, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// refuseLoader is asked for everything that is not in the schema itself.
type refuseLoader struct{}

func (refuseLoader) Load(string) (any, error) {
	return nil, remoteError("schemas are never fetched")
}

// dialectOf finds the dialect a schema declares.
func dialectOf(doc any) (string, *jsonschema.Draft, error) {
	obj, _ := doc.(map[string]any)
	declared, ok := obj["$schema"]
	if !ok || declared == nil {
		return "2020-12", jsonschema.Draft2020, nil
	}
	uri, ok := declared.(string)
	if !ok {
		return "", nil, dialectError(`"$schema" must be a string that names a dialect`)
	}
	bare := strings.TrimSuffix(strings.TrimSpace(uri), "#")
	bare = strings.TrimPrefix(strings.TrimPrefix(bare, "http://"), "https://")
	var name string
	var draft *jsonschema.Draft
	switch strings.TrimSuffix(bare, "/") {
	case "json-schema.org/draft/2020-12/schema", "json-schema.org/schema":
		name, draft = "2020-12", jsonschema.Draft2020
	case "json-schema.org/draft/2019-09/schema":
		name, draft = "2019-09", jsonschema.Draft2019
	case "json-schema.org/draft-07/schema":
		name, draft = "draft-07", jsonschema.Draft7
	case "json-schema.org/draft-06/schema":
		name, draft = "draft-06", jsonschema.Draft6
	case "json-schema.org/draft-04/schema":
		name, draft = "draft-04", jsonschema.Draft4
	default:
		return "", nil, dialectError(fmt.Sprintf("the schema says it is written in %s, a dialect that is not supported; supported are JSON Schema 2020-12, 2019-09, draft-07, draft-06 and draft-04", quoted(uri)))
	}
	// The library knows the dialect by now; its own reading of "$schema" is stricter.
	delete(obj, "$schema")
	return name, draft, nil
}

// explainCompile turns the library's error into a sentence. refs are the references
// as the schema writes them.
func explainCompile(err error, refs []string) error {
	var load *jsonschema.LoadURLError
	if errors.As(err, &load) {
		return remoteError(fmt.Sprintf("the schema refers to %s, which is outside it; schemas are never fetched, so all definitions must be inside (for example under \"$defs\")", quoted(original(load.URL, refs))))
	}
	var pointer *jsonschema.JSONPointerNotFoundError
	if errors.As(err, &pointer) {
		return fmt.Errorf("the schema refers to %s, which it does not contain", quoted(local(pointer.URL)))
	}
	var anchor *jsonschema.AnchorNotFoundError
	if errors.As(err, &anchor) {
		return fmt.Errorf("the schema refers to %s, which it does not contain", quoted(local(anchor.Reference)))
	}
	var invalid *jsonschema.SchemaValidationError
	if errors.As(err, &invalid) {
		var ve *jsonschema.ValidationError
		if errors.As(invalid.Err, &ve) {
			if vs := violations(ve); len(vs) > 0 {
				return fmt.Errorf("not a valid JSON Schema: %s", vs[0])
			}
		}
	}
	return fmt.Errorf("not a valid JSON Schema: %s", strings.ReplaceAll(err.Error(), base, ""))
}

// local cuts the made-up address off a reference.
func local(ref string) string { return strings.TrimPrefix(ref, base) }

// original finds how the schema wrote a reference that was resolved to url.
func original(url string, refs []string) string {
	best := ""
	for _, ref := range refs {
		bare, _, _ := strings.Cut(ref, "#")
		tail := strings.TrimLeft(bare, "./")
		if tail != "" && strings.HasSuffix(url, tail) && len(ref) > len(best) {
			best = ref
		}
	}
	if best != "" {
		return best
	}
	return url
}
