package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"steward/app/config"
	"steward/llm"
)

// leftOut says whether this run offers the model nothing of a server, or not this tool.
func (a *App) leftOut(server, tool string) bool {
	return slices.Contains(a.o.Without, server) || slices.Contains(a.o.Without, server+"/"+tool)
}

// checkLeftOut refuses what names no server of the list: whoever leaves something out
// believes that it is not sent.
func checkLeftOut(without []string, list serverList) error {
	for _, w := range without {
		known := func(c config.Server) bool {
			return w == c.Name || strings.HasPrefix(w, c.Name+"/") && len(w) > len(c.Name)+1
		}
		if list.err == nil && !slices.ContainsFunc(list.servers, known) {
			return &Message{Key: "left_out", Args: args("name", reveal(w), "detail", fmt.Sprintf("--without %s names no server that is configured; write the name of a server, or SERVER/TOOL. steward servers list names them.", reveal(w)))}
		}
	}
	return nil
}

// tellUnknownLeftOut tells once of each tool to be left out that its server, which runs now,
// does not have.
func (a *App) tellUnknownLeftOut(server string) {
	if len(a.o.Without) == 0 {
		return
	}
	var tools []string
	for _, c := range a.servers.ready() {
		if c.Server() == server {
			for _, t := range c.Tools() {
				tools = append(tools, t.Name)
			}
		}
	}
	if len(tools) == 0 {
		return // it did not start, or says by itself that it has none
	}
	for _, w := range a.o.Without {
		tool, ok := strings.CutPrefix(w, server+"/")
		if !ok || slices.Contains(tools, tool) {
			continue
		}
		if _, told := a.untold.LoadOrStore(w, true); !told {
			a.notice("left_out", server, fmt.Sprintf("The server %s has no tool named %s, which was to be left out.", reveal(server), reveal(tool)))
		}
	}
}

// LeaveOutTool switches a tool off in a conversation, where it can be switched on again, and asks
// the model once more for the answer that failed. What was called before it is not called again.
func (a *App) LeaveOutTool(ctx context.Context, conversation, server, tool string) (*Turn, error) {
	s, err := a.ConversationSettings(ctx, conversation)
	if err != nil {
		return nil, err
	}
	s.Tools = deepCopy(s.Tools)
	if s.Tools == nil {
		s.Tools = map[string]map[string]bool{}
	}
	if s.Tools[server] == nil {
		s.Tools[server] = map[string]bool{}
	}
	s.Tools[server][tool] = false
	if err := a.SetConversationSettings(ctx, conversation, s); err != nil {
		return nil, err
	}
	return a.TryAgain(ctx, conversation)
}

// FindRefusedTool finds the tool that the endpoint of a conversation refuses, by asking it
// with parts of the tools: about as often as their number can be halved, and twice more. Call
// it only where the person has agreed, since the requests may cost something. asked, if not
// nil, is told before each, from the calling goroutine. ctx stops it.
func (a *App) FindRefusedTool(ctx context.Context, conversation string, asked func(n int)) (server, tool string, err error) {
	server, tool, err = a.engine.FindTool(ctx, conversation, asked)
	if errors.Is(err, llm.ErrNoTool) {
		err = &Message{Key: "no_refused_tool", Args: args("detail", "The endpoint refuses none of the tools by itself. Try again, or offer fewer of them."), Err: err}
	}
	return server, tool, err
}
