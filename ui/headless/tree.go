package headless

import (
	"encoding/json"
	"fmt"
	"strings"

	"steward/app/clean"
)

// node is a JSON value with the order of its keys.
type node struct {
	leaf   string // text of a scalar, made safe to show
	list   bool
	names  []string
	values []*node
}

// ordered reads one JSON value.
func ordered(dec *json.Decoder) (*node, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	d, ok := tok.(json.Delim)
	if !ok {
		return &node{leaf: leafText(tok)}, nil
	}
	n := &node{list: d == '['}
	for dec.More() {
		if !n.list {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			n.names = append(n.names, fmt.Sprint(name))
		}
		v, err := ordered(dec)
		if err != nil {
			return nil, err
		}
		n.values = append(n.values, v)
	}
	_, err = dec.Token() // the closing bracket
	return n, err
}

func leafText(tok json.Token) string {
	if tok == nil {
		return "-"
	}
	return clean.Reveal(fmt.Sprint(tok))
}

// write shows the value, one name a line, nested ones set in.
func (n *node) write(b *strings.Builder, prefix string) {
	for i, v := range n.values {
		label := "-"
		if !n.list {
			label = clean.Reveal(n.names[i]) + ":"
		}
		switch {
		case len(v.values) > 0:
			fmt.Fprintf(b, "%s%s\n", prefix, label)
			v.write(b, prefix+"  ")
		case v.leaf != "":
			fmt.Fprintf(b, "%s%s %s\n", prefix, label, v.leaf)
		default:
			fmt.Fprintf(b, "%s%s\n", prefix, label)
		}
	}
}
