//go:build unix

package headless

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// Answers may come from a pipe, and what comes from there may never hold a line.
func TestAnswerWithoutEnd(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for block := bytes.Repeat([]byte("y"), 1<<16); err == nil; {
			_, err = w.Write(block)
		}
	}()
	talk := &terminal{piped: true}
	if err := talk.src.open(r); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if line, err := talk.pipedLine(ctx); err == nil || !strings.Contains(err.Error(), "longer than 1 MiB") {
		t.Errorf("%d bytes, %v", len(line), err)
	}
	talk.src.shut()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	<-ended
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
