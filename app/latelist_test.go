package app

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A list of models that comes after the endpoint was given another address, or was taken
// away, is not kept as that endpoint's.
func TestALateListOfModelsIsNotKept(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	asked, goOn := make(chan struct{}, 8), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		asked <- struct{}{}
		<-goOn
		name := "of-the-old-address"
		if strings.HasPrefix(q.URL.Path, "/other/") {
			name = "of-the-new-one"
		}
		_, _ = io.WriteString(w, `{"data":[{"id":"`+name+`"}]}`)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	r := newRig(t, map[string]any{})
	r.stored()
	add := func() string {
		return must(t, func() (string, error) {
			return r.app.SaveEndpoint(ctx, ModelEndpoint{BaseURL: s.URL, Model: "a"}, "")
		})
	}
	changed, removed := add(), add()
	type ended struct {
		id  string
		err error
	}
	over := make(chan ended, 2)
	for _, id := range []string{changed, removed} {
		go func() {
			_, err := r.app.ModelList(ctx, id, true)
			over <- ended{id, err}
		}()
		<-asked
	}
	must(t, func() (string, error) {
		return r.app.SaveEndpoint(ctx, ModelEndpoint{ID: changed, BaseURL: s.URL + "/other/v1", Model: "a"}, "")
	})
	check(t, r.app.DeleteEndpoint(ctx, removed))
	close(goOn)
	late := map[string]error{}
	for range 2 {
		o := <-over
		late[o.id] = o.err
	}
	if late[changed] != nil || late[removed] == nil {
		t.Errorf("who asked is told %v", late)
	}
	r.reopen()
	if kept := r.app.KeptModels(ctx, changed); len(kept.Models) != 1 || kept.Models[0].ID != "of-the-new-one" {
		t.Errorf("kept: %+v", kept)
	}
	if kept := r.app.KeptModels(ctx, removed); len(kept.Models) != 0 {
		t.Errorf("kept of one that is gone: %+v", kept)
	}
}
