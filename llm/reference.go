package llm

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// refOf is the reference in a schema. $dynamicRef (2020-12) and $recursiveRef (2019-09)
// are read as what they mean in a schema that nobody extends.
func refOf(n *node) (string, bool) {
	for _, word := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if v := n.get(word); v != nil {
			return v.str(), true
		}
	}
	return "", false
}

// reference puts the target of a reference in its place, together with what stands beside
// it. A circle ends where it would begin again.
func (z *normaliser) reference(n *node, ref string, level int) *node {
	beside := object()
	for _, m := range n.members {
		if m.name != "$ref" && m.name != "$dynamicRef" && m.name != "$recursiveRef" {
			beside.members = append(beside.members, m)
		}
	}
	target := z.resolve(ref)
	switch {
	case target == nil, target == n:
		return z.schema(beside, level+1)
	case slices.Contains(z.refs, target) || z.left <= 0 || level > maxLevel-8:
		cut := object()
		for _, word := range []string{"type", "title", "description"} {
			if v := target.get(word); v != nil {
				cut.set(word, v)
			}
		}
		for _, m := range beside.members {
			cut.set(m.name, m.value)
		}
		return z.schema(cut, level+1)
	}
	z.refs = append(z.refs, target)
	defer func() { z.refs = z.refs[:len(z.refs)-1] }()
	out := z.schema(target, level+1)
	if len(beside.members) == 0 {
		return out
	}
	return over(out, z.schema(beside, level+1))
}

// over is a schema with another beside it, whose words go first; properties, required
// names and alternatives of both hold. Neither is used further.
func over(n, beside *node) *node {
	for _, m := range beside.members {
		switch m.name {
		case "properties":
			for _, p := range m.value.members {
				if n.get("properties") == nil {
					n.set("properties", object())
				}
				n.get("properties").set(p.name, p.value)
			}
		case "required":
			n.set("required", stringNodes(uniqueTexts(append(n.get("required").strings(), m.value.strings()...))))
		case "type":
			if n.get("type") == nil {
				n.members = slices.Insert(n.members, 0, m)
			}
		case "items":
			if n.get("items") == nil || len(m.value.members) > 0 {
				n.set("items", m.value)
			}
		default:
			n.set(m.name, m.value)
		}
	}
	complete(n) // a type may have come from beside
	return n
}

// resolve finds the target of a reference into the schema itself: an RFC 6901 pointer, an
// anchor, or the $id of a part of it. Nothing is ever fetched.
func (z *normaliser) resolve(ref string) *node {
	if ref == "" || z.root == nil {
		return nil
	}
	address, fragment, _ := strings.Cut(ref, "#")
	start := z.root
	if address != "" {
		if z.ids == nil {
			z.ids = map[string]*node{}
			identify(z.root, "", z.ids, 0)
		}
		if start = z.ids[address]; start == nil {
			start = z.ids[absolute(z.root.get("$id").str(), address)]
		}
		if start == nil {
			return nil
		}
	}
	if p, err := url.PathUnescape(fragment); err == nil {
		fragment = p
	}
	switch {
	case fragment == "":
		return start
	case fragment[0] != '/':
		return anchor(start, fragment, 0)
	}
	return follow(start, fragment)
}

// follow is the schema that a pointer leads to, nil if it leads to none.
func follow(n *node, pointer string) *node {
	for _, step := range strings.Split(pointer[1:], "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		if n.array {
			k, err := strconv.Atoi(step)
			if err != nil || k < 0 || k >= len(n.items) {
				return nil
			}
			n = n.items[k]
		} else if n = n.get(step); n == nil {
			return nil
		}
	}
	if !n.object {
		return nil
	}
	return n
}

// identify notes the parts of a schema that have an $id, as it is written and absolute.
func identify(n *node, base string, ids map[string]*node, level int) {
	if level > 2*maxLevel {
		return
	}
	for _, word := range []string{"$id", "id"} {
		if id := n.get(word).str(); n.object && id != "" && id[0] != '#' {
			id = strings.TrimSuffix(id, "#")
			base = absolute(base, id)
			for _, name := range []string{id, base} {
				if ids[name] == nil {
					ids[name] = n
				}
			}
		}
	}
	for _, m := range n.members {
		identify(m.value, base, ids, level+1)
	}
	for _, i := range n.items {
		identify(i, base, ids, level+1)
	}
}

func absolute(base, ref string) string {
	b, err := url.Parse(base)
	if err != nil {
		return ref
	}
	r, err := b.Parse(ref)
	if err != nil {
		return ref
	}
	return r.String()
}

func anchor(n *node, name string, level int) *node {
	if n.get("$anchor").str() == name || n.get("$dynamicAnchor").str() == name || n.get("$id").str() == "#"+name || n.get("id").str() == "#"+name {
		return n
	}
	if level > 2*maxLevel {
		return nil
	}
	for _, m := range n.members {
		if found := anchor(m.value, name, level+1); found != nil {
			return found
		}
	}
	for _, i := range n.items {
		if found := anchor(i, name, level+1); found != nil {
			return found
		}
	}
	return nil
}
