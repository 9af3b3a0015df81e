package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"steward/storage"
)

func TestEveryConversationIsExported(t *testing.T) {
	r := newRig(t, nil)
	var ids []string
	for i := range 4 {
		c := must(t, func() (Conversation, error) { return r.app.NewConversation(t.Context(), i == 3) })
		ids = append(ids, c.ID)
	}
	for _, err := range []error{
		r.app.Rename(t.Context(), ids[0], "First"), r.app.Archive(t.Context(), ids[1], true), r.app.Pin(t.Context(), ids[2], true),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	folder, n, err := r.app.ExportConversations(t.Context(), dir)
	if err != nil || n != 3 {
		t.Fatalf("%d exported, %v", n, err)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for i, id := range ids {
		found, err := filepath.Glob(filepath.Join(folder, "*"+id+".md"))
		if err != nil || (len(found) == 1) != (i < 3) { // the temporary one is left out
			t.Errorf("conversation %d has the files %q, %v", i, found, err)
		}
		if i == 0 {
			if text, err := os.ReadFile(found[0]); err != nil || !strings.HasPrefix(string(text), "# First\n") {
				t.Errorf("it begins %.40q, %v", text, err)
			}
		}
	}
	again, _, err := r.app.ExportConversations(t.Context(), dir)
	if err != nil || again == folder {
		t.Errorf("the second export went to %s, %v", again, err)
	}
	if _, _, err := r.app.ExportConversations(t.Context(), filepath.Join(dir, "gone")); err == nil {
		t.Error("a folder that is not there takes an export")
	}
}

// However many there are, and also where all were changed at the same moment.
func TestNoConversationIsPassedOver(t *testing.T) {
	r := newRig(t, nil)
	const many = 620
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	check(t, r.app.db.Write(t.Context(), func(tx *storage.Tx) error {
		for i := range many {
			c := storage.Conversation{ID: fmt.Sprintf("c_%04d", i), Created: at, Updated: at, Archived: i%7 == 0, Pinned: i%5 == 0}
			if err := tx.PutConversation(c); err != nil {
				return err
			}
		}
		return nil
	}))
	folder, n, err := r.app.ExportConversations(t.Context(), t.TempDir())
	files, readErr := os.ReadDir(folder)
	if err != nil || readErr != nil || n != many || len(files) != many {
		t.Errorf("%d exported into %d files, %v, %v", n, len(files), err, readErr)
	}
}
