package chat

import (
	"context"
	"errors"

	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/ui/sentence"
	"steward/ui/text"
)

// words are the texts of text views.
func words() text.Words {
	return text.Words{
		Copy:      func() string { return lang.X("common.copy", "Copy") },
		CopyAll:   func() string { return lang.X("common.copy_all", "Copy all") },
		CopyLink:  func() string { return lang.X("chat.copy_link", "Copy the address") },
		SelectAll: func() string { return lang.X("common.select_all", "Select all") },
		Copied:    func() string { return lang.X("common.copied", "Copied") },
		ShowAll: func(n int) string {
			return lang.X("common.show_more_lines", "Show {{.count}} more lines", map[string]any{"count": n})
		},
		ShowLess: func() string { return lang.X("common.show_less", "Show less") },
		Image: func(host, alt string) string {
			if host == "" {
				return lang.X("chat.picture", "Picture: {{.alt}}", map[string]any{"alt": alt})
			}
			return lang.X("chat.picture_from", "Picture from {{.host}}, not loaded: {{.alt}}", map[string]any{"host": host, "alt": alt})
		},
	}
}

// titleOf names a conversation for the person.
func titleOf(c app.Conversation) string {
	if c.Title == "" {
		return lang.X("chat.untitled", "Untitled chat")
	}
	return c.Title
}

// endingWords says in a sentence why an answer stopped.
func endingWords(m *message) string {
	words := ""
	switch m.State {
	case stateStopped:
		words = lang.X("chat.was_stopped", "You stopped this answer.")
	case stateInterrupted:
		words = lang.X("chat.was_interrupted", "This answer was interrupted before its end. What came until then is kept.")
	case stateFailed:
		words = lang.X("chat.has_failed", "The model could not answer.")
	}
	if m.Error == "" {
		return words
	}
	reason := sentence.Worded(m.Error)
	if words == "" || m.State == stateFailed {
		return reason
	}
	return words + " " + reason
}

// how says how a call came to run, or not, in the words of a person who glances at it.
func how(c *app.CallState) string {
	switch c.Decision {
	case "denied":
		if c.By == "person" {
			return lang.X("chat.denied_by_you", "denied by you")
		}
		return lang.X("chat.denied_by_rule", "denied by a rule")
	case "expired":
		return lang.X("chat.expired", "nobody answered in time")
	case "withdrawn":
		return lang.X("chat.withdrawn", "withdrawn before it ran")
	case "allowed":
	default:
		if c.State == callWaiting {
			return lang.X("chat.waits", "waits for your yes")
		}
		return ""
	}
	switch {
	case c.By == "person":
		return lang.X("chat.allowed_once", "allowed by you")
	case c.By == "flag":
		return lang.X("chat.allowed_flag", "allowed by a start option")
	case len(c.By) > 6 && c.By[:6] == "grant:":
		return lang.X("chat.allowed_grant", "allowed earlier")
	}
	return lang.X("chat.allowed_rule", "allowed by a rule")
}

// outcomeWords says how a call ended where that was not well; empty otherwise.
func outcomeWords(c *app.CallState) string {
	if c.Reason != "" {
		return sentence.Worded(c.Reason)
	}
	if c.Effect == "unknown" {
		return lang.X("chat.effect_unknown", "It is not known whether this took effect. Look before you try again.")
	}
	return ""
}

// ended well says whether a call did what it was to do.
func succeeded(c *app.CallState) bool { return c.State == callDone && c.Outcome == "ok" }

// attachmentWords names an attachment.
func attachmentWords(a app.Attachment) string {
	name := a.Name
	if name == "" {
		name = a.URI
	}
	return clean.Line(clean.Reveal(name), 80)
}

// attachmentIcon is the picture for a kind of attachment.
func attachmentIcon(a app.Attachment) string {
	switch a.Kind {
	case "image":
		return "image"
	case "resource":
		return "at"
	case "prompt":
		return "slash"
	}
	return "file"
}

// gone says whether an error only means that the window closes.
func gone(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, ctx.Err())
}
