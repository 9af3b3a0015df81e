package app

import (
	"errors"

	"steward/app/event"
	"steward/app/journal"
	"steward/mcphost"
)

// record notes a start and how it went, so that the journal says what ran beside the
// calls that went to it. tried says that it came to a start at all.
func (s *servers) record(e *serverEntry, cfg mcphost.ServerConfig, tried bool) {
	list := s.now()
	detail := startDetail{Source: list.source, File: list.path, Transport: e.config.Transport, Command: e.config.Command, Args: e.config.Args, URL: e.config.URL, Roots: cfg.Roots}
	out := journal.Outcome{Outcome: journal.OK, Effect: journal.EffectDone}
	if e.err != nil {
		out = startOutcome(e.err, tried)
	} else {
		detail.Protocol, detail.Tools = e.conn.Protocol(), len(e.conn.Tools())
	}
	_, err := s.journal.Note(s.ctx, journal.Proposal{Kind: journal.KindServer, Server: e.config.Name, Definition: e.config.Hash(), Detail: detail}, out)
	if err != nil && s.ctx.Err() == nil {
		s.tell(event.Notice{Kind: "journal", Server: e.config.Name, Message: err.Error()})
	}
}

// startOutcome says what a start that failed has come to. One that was not tried, as where a
// secret is missing, and one that found no program or was not let in, has started nothing.
func startOutcome(err error, tried bool) journal.Outcome {
	out := journal.Outcome{Outcome: journal.Unknown, Effect: journal.EffectUnknown, Reason: err.Error()}
	var start *mcphost.StartError
	known := errors.As(err, &start)
	switch {
	case errors.Is(err, mcphost.ErrSignInRefused):
		out.Outcome, out.Effect = journal.Denied, journal.EffectNone
	case !tried, known && (start.Stage == mcphost.StageProgram || start.Stage == mcphost.StageSignIn):
		out.Outcome, out.Effect = journal.Withdrawn, journal.EffectNone
	}
	return out
}

type startDetail struct {
	Source    string   `json:"source"`
	File      string   `json:"file,omitempty"`
	Transport string   `json:"transport"`
	Command   string   `json:"command,omitempty"`
	Args      []string `json:"args,omitempty"`
	URL       string   `json:"url,omitempty"`
	Roots     []string `json:"roots,omitempty"`
	Protocol  string   `json:"protocol,omitempty"`
	Tools     int      `json:"tools"`
}
