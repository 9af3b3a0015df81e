package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
