package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"steward/app/clean"
	"steward/storage"
)

// ExportConversations writes every conversation, also those in the archive, as a Markdown file of its own into a new
// folder below dir, which only its owner may read. It returns the folder, and how many there were. After an error the
// folder holds what was written until then. Temporary ones leave nothing behind and are left out.
func (a *App) ExportConversations(ctx context.Context, dir string) (folder string, n int, err error) {
	all, err := a.db.Kept(ctx) // at once: what changes meanwhile moves in the list, and would be passed over by pages of it
	if err != nil {
		return "", 0, err
	}
	folder, err = newFolder(dir, "steward-chats-"+a.clock().Format("2006-01-02"))
	if err != nil {
		return "", 0, fmt.Errorf("no folder for the chats can be made in %s: %w", reveal(dir), err)
	}
	for _, c := range all {
		text, err := a.ExportConversation(ctx, c.ID)
		if errors.Is(err, storage.ErrNotFound) {
			continue // deleted meanwhile
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, c.Created.Format("2006-01-02-150405")+"-"+c.ID+".md"), []byte(text), 0o600)
		}
		if err != nil {
			return folder, n, fmt.Errorf("the chat %q could not be exported: %w", clean.Line(c.Title, 100), err)
		}
		n++
	}
	return folder, n, nil
}

// newFolder makes a folder that was not there, with a number in its name where need be.
func newFolder(dir, name string) (string, error) {
	for n := 1; ; n++ {
		path := filepath.Join(dir, name)
		if n > 1 {
			path = fmt.Sprintf("%s-%d", path, n)
		}
		if err := os.Mkdir(path, 0o700); !errors.Is(err, os.ErrExist) || n == 1000 {
			return path, err
		}
	}
}

// markdown writes a conversation for people who do not have Steward. Foreign text is
// quoted, so that it cannot pass for a heading of ours.
func markdown(c Conversation, messages []ChatMessage) string {
	var b strings.Builder
	title := c.Title
	if title == "" {
		title = c.ID
	}
	fmt.Fprintf(&b, "# %s\n\nExported from Steward; conversation %s, begun %s.\n", title, c.ID, c.Created.Format("2006-01-02 15:04 MST"))
	for _, m := range messages {
		who := "You"
		switch m.Role {
		case storage.RoleAssistant:
			who = clean.Line("Model "+m.Model, 200)
		case storage.RoleNote:
			who = clean.Line(fmt.Sprintf("Summary of the %d messages above by %s, which goes to the model instead of them", m.Noted, m.Model), 200)
		}
		fmt.Fprintf(&b, "\n## %s, %s\n\n", strings.TrimSpace(who), m.Time.Format("2006-01-02 15:04:05 MST"))
		for _, a := range m.Attachments {
			fmt.Fprintf(&b, "- attached %s: %s\n", a.Kind, clean.Line(a.Name, 200))
		}
		quote(&b, clean.Clean(m.Text))
		for _, call := range m.Calls {
			exportCall(&b, call)
		}
		if m.Error != "" {
			fmt.Fprintf(&b, "\n*%s: %s*\n", m.State, clean.Line(m.Error, 500))
		}
	}
	return b.String()
}

func exportCall(b *strings.Builder, c CallState) {
	fmt.Fprintf(b, "\n**Call** %s on %s", clean.Reveal(c.Tool), clean.Reveal(c.Server))
	if c.Record > 0 {
		fmt.Fprintf(b, ", record %d", c.Record)
	}
	if c.Decision != "" {
		fmt.Fprintf(b, ", %s by %s", c.Decision, c.By)
	}
	if c.Outcome != "" {
		fmt.Fprintf(b, ", %s, effect %s, %.3f s", c.Outcome, c.Effect, c.Seconds)
	}
	b.WriteString("\n\n")
	arguments := c.Arguments
	if c.Edited != "" {
		arguments = c.Edited
	}
	quote(b, clean.Reveal(arguments))
	b.WriteByte('\n')
	quote(b, c.Text)
}

func quote(b *strings.Builder, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	for _, line := range strings.Split(text, "\n") {
		b.WriteString("> " + line + "\n")
	}
}
