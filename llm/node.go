package llm

import "slices"

// node is a JSON value whose objects keep their order.
type node struct {
	raw     []byte // of anything but an object or array
	object  bool
	array   bool
	members []nodeMember
	items   []*node
}

type nodeMember struct {
	name  string
	value *node
}

func parseNode(b []byte, i, depth int) (*node, int, error) {
	if i >= len(b) {
		return nil, i, errJSONEnd
	}
	n := &node{}
	var end int
	var err error
	switch b[i] {
	case '{':
		n.object = true
		at := map[string]int{} // a name that comes again replaces what it was
		end, err = eachMember(b, i, depth, func(key []byte, i, depth int) (int, error) {
			child, end, err := parseNode(b, i, depth)
			name := unquote(key)
			if k, again := at[name]; again {
				n.members[k].value = child
				return end, err
			}
			at[name] = len(n.members)
			n.members = append(n.members, nodeMember{name, child})
			return end, err
		})
	case '[':
		n.array = true
		end, err = eachItem(b, i, depth, func(i, depth int) (int, error) {
			child, end, err := parseNode(b, i, depth)
			n.items = append(n.items, child)
			return end, err
		})
	default:
		if end, err = skipValue(b, i, depth); err == nil {
			n.raw = b[i:end]
		}
	}
	return n, end, err
}

func (n *node) get(name string) *node {
	for i := range n.members {
		if n.members[i].name == name {
			return n.members[i].value
		}
	}
	return nil
}

// set replaces or adds a member.
func (n *node) set(name string, v *node) {
	for i := range n.members {
		if n.members[i].name == name {
			n.members[i].value = v
			return
		}
	}
	n.members = append(n.members, nodeMember{name, v})
}

func (n *node) remove(names ...string) {
	n.members = slices.DeleteFunc(n.members, func(m nodeMember) bool { return slices.Contains(names, m.name) })
}

// str is the text of a string node, else "".
func (n *node) str() string {
	if n == nil || n.object || n.array {
		return ""
	}
	return unquote(n.raw)
}

func (n *node) null() bool { return n != nil && string(n.raw) == "null" }

func (n *node) write(b []byte) []byte {
	switch {
	case n.object:
		b = append(b, '{')
		for i, m := range n.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendQuoted(b, m.name), ':')
			b = m.value.write(b)
		}
		return append(b, '}')
	case n.array:
		b = append(b, '[')
		for i, v := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.write(b)
		}
		return append(b, ']')
	}
	return append(b, n.raw...)
}

func object(members ...nodeMember) *node { return &node{object: true, members: members} }
func stringNode(s string) *node          { return &node{raw: appendQuoted(nil, s)} }

// clone is a copy that shares nothing that is changed.
func (n *node) clone() *node {
	if n == nil {
		return nil
	}
	out := &node{raw: n.raw, object: n.object, array: n.array}
	for _, m := range n.members {
		out.members = append(out.members, nodeMember{m.name, m.value.clone()})
	}
	for _, v := range n.items {
		out.items = append(out.items, v.clone())
	}
	return out
}

// size counts the nodes in it, itself included.
func (n *node) size() int {
	if n == nil {
		return 0
	}
	count := 1
	for _, m := range n.members {
		count += m.value.size()
	}
	for _, v := range n.items {
		count += v.size()
	}
	return count
}

func (n *node) is(raw string) bool { return n != nil && !n.object && !n.array && string(n.raw) == raw }

// same tells whether two values are written alike.
func same(a, b *node) bool { return string(a.write(nil)) == string(b.write(nil)) }

func list(items ...*node) *node { return &node{array: true, items: items} }
func rawNode(s string) *node    { return &node{raw: []byte(s)} }

// strings are the texts of a list, others left out.
func (n *node) strings() []string {
	if n == nil {
		return nil
	}
	var out []string
	for _, v := range n.items {
		if s := v.str(); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func stringNodes(texts []string) *node {
	out := list()
	for _, s := range texts {
		out.items = append(out.items, stringNode(s))
	}
	return out
}
