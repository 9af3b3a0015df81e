package shell

import (
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2/lang"

	"steward/app/clean"
	"steward/app/event"
	"steward/ui/place"
	"steward/ui/sentence"
)

const (
	gather      = 400 * time.Millisecond // notices that come together are told together
	noticesTold = 8                      // at once; the rest is counted
)

// fileOfServers is the kind of what is wrong in the servers file. It may stay wrong over many starts, so it stops nobody.
const fileOfServers = "servers_file"

// notices tells the person what the program has to say that belongs to no conversation: what a crash left open, a record
// that does not verify, settings that cannot be read. Those stay until they were read; lesser ones pass by.
type notices struct {
	s       *Shell
	waiting []event.Notice
	planned bool
}

// grave says whether a notice must be read, and whether it is the window's at all.
func grave(n event.Notice) (must, ours bool) {
	switch n.Kind {
	case "sampling_trusted", "sampling", "muted", "open", "sign_in", "task_followed": // what a server asked for, told nowhere in its chat
		return false, true
	}
	if n.Conversation != "" || n.Hint { // of the second, who looks at the servers reads it there
		return false, false
	}
	switch n.Kind {
	case "journal", "recovered", "storage", "settings":
		return true, true
	case "key_missing", "internal", "secrets", "server_config", fileOfServers: // the side bar and the place of the servers keep the last one
		return false, true
	}
	return false, false
}

// told takes a notice. Fyne's goroutine.
func (n *notices) told(e event.Notice) {
	if _, ours := grave(e); !ours {
		return
	}
	n.waiting = append(n.waiting, e)
	if !n.planned {
		n.planned = true
		n.s.after(gather, n.tell)
	}
}

func (n *notices) tell() {
	n.planned = false
	var must []string
	var file []event.Notice
	for _, e := range n.waiting {
		switch stays, _ := grave(e); {
		case stays:
			must = append(must, sentence.Worded(e.Message))
		case e.Kind == fileOfServers:
			file = append(file, e)
		default:
			n.s.layer.Toast(sentence.Worded(e.Message))
		}
	}
	n.waiting = nil
	n.offerServers(file)
	if len(must) == 0 {
		return
	}
	if more := len(must) - noticesTold; more > 0 {
		must = append(must[:noticesTold], lang.X("shell.and_more", "· and {{.count}} more", map[string]any{"count": more}))
	}
	buttons := []place.Button{{Label: lang.X("common.ok", "OK")}}
	if n.s.offers(place.Audit) {
		buttons = append(buttons, place.Button{Label: lang.X("shell.open_audit", "Open the audit"), Do: func() { n.s.open(place.Audit, "") }})
	}
	n.s.layer.Ask(lang.X("shell.notices", "Steward has something to tell you"), strings.Join(must, "\n\n"), buttons...)
}

// offerServers says in passing what of the servers file cannot be used, and leads to where it can be mended.
func (n *notices) offerServers(wrong []event.Notice) {
	if len(wrong) == 0 {
		return
	}
	words := wrongServers(wrong)
	if !n.s.offers(place.Servers) {
		n.s.layer.Toast(words)
		return
	}
	n.s.layer.Offer(words, lang.X("shell.servers", "Servers"), func() { n.s.open(place.Servers, wrong[0].Server) }, nil)
}

// wrongServers names the servers whose entries cannot be used as they are; what is wrong with each stands with it. A file
// that cannot be read at all names none.
func wrongServers(wrong []event.Notice) string {
	var names []string
	for _, e := range wrong {
		if e.Server == "" {
			return sentence.Worded(e.Message)
		}
		if name := clean.Reveal(e.Server); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	out := lang.X("shell.servers_wrong", "In servers.json something is wrong with: {{.names}}", map[string]any{"names": strings.Join(names[:min(len(names), noticesTold)], ", ")})
	if more := len(names) - noticesTold; more > 0 {
		out += " " + lang.X("shell.and_more", "· and {{.count}} more", map[string]any{"count": more})
	}
	return out
}
