package headless

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"steward/app"
	"steward/app/clean"
)

func (r *run) tools(ctx context.Context, a *app.App) error {
	list, err := a.Tools(ctx)
	return r.printed(list, err)
}

func (r *run) prompts(ctx context.Context, a *app.App) error {
	list, err := a.Prompts(ctx)
	return r.printed(list, err)
}

func (r *run) resources(ctx context.Context, a *app.App) error {
	list, err := a.Resources(ctx)
	return r.printed(list, err)
}

func (r *run) printed(list any, err error) error {
	if err != nil {
		return err
	}
	return writeJSON(r.Out, list)
}

func (r *run) servers(ctx context.Context) (int, error) {
	switch r.sub {
	case "list":
		return r.listServers(ctx)
	case "review":
		return r.with(ctx, r.review)
	default:
		return r.with(ctx, r.trust)
	}
}

func (r *run) revoke(ctx context.Context, a *app.App, name string) error {
	n, err := a.RevokeGrants(ctx, name)
	if n > 0 || err == nil {
		fmt.Fprintf(r.Out, "Server %s: %s taken back.\n", clean.Reveal(name), counted(n, "standing grant"))
	}
	return err
}

func (r *run) listServers(ctx context.Context) (int, error) {
	reader, err := app.OpenReader(ctx, r.options(), false)
	if err != nil && !folderEmpty(err) {
		return exitFailed, err
	}
	rows, problem := reader.Servers(ctx)
	problem = errors.Join(problem, reader.Close(ctx))
	if rows == nil {
		return exitFailed, problem
	}
	if r.json {
		err = writeJSON(r.Out, rows)
	} else if len(rows) > 0 || problem == nil {
		err = table(r.Out, []string{"SERVER", "STATE", "REVIEWED", "GRANTS", "FROM", "RUNS"}, len(rows), func(i int) []string {
			return serverCells(rows[i])
		})
	}
	return exitOK, errors.Join(err, problem)
}

func serverCells(s app.ServerRow) []string {
	state, reviewed := "enabled", "no"
	switch {
	case s.Transport == "":
		state = "unusable"
	case s.Disabled:
		state = "disabled"
	}
	if s.Reviewed {
		reviewed = "yes"
		if s.At != nil {
			reviewed = s.At.Local().Format("2006-01-02 15:04")
		}
	}
	runs := s.Command
	if runs == "" {
		runs = clean.Reveal(s.URL)
	}
	if s.Problem != "" {
		runs = strings.TrimSpace(runs + "  ! " + clean.Line(s.Problem, 300))
	}
	return []string{clean.Reveal(s.Server), state, reviewed, strconv.Itoa(s.Grants), s.Source, runs}
}

// reviewText is everything a server offers, whole, with what is new or changed. All of
// it is the server's own text and is marked as such.
func reviewText(v app.Review) string {
	var b strings.Builder
	switch {
	case !v.Known:
		fmt.Fprintf(&b, "Server %s: nothing of it was ever reviewed. The model sees nothing of it.\n", v.Server)
	case v.Blocked:
		fmt.Fprintf(&b, "Server %s: its settings or its instructions changed since they were reviewed. The model sees nothing of it.\n", v.Server)
	case v.Pending() == 1:
		fmt.Fprintf(&b, "Server %s: 1 definition is new or changed. The model does not see it.\n", v.Server)
	case v.Pending() > 1:
		fmt.Fprintf(&b, "Server %s: %d definitions are new or changed. The model does not see those.\n", v.Server, v.Pending())
	default:
		fmt.Fprintf(&b, "Server %s: everything was reviewed.\n", v.Server)
	}
	news := v.Pending() > 0 || v.Blocked // else all of it is shown: somebody wants to read it again
	var unchanged []string
	for _, c := range v.Changes {
		if c.New == "" && c.Old == "" { // no instructions, neither now nor before
			continue
		}
		if c.State == "same" && news {
			unchanged = append(unchanged, definitionName(c.Kind, c.Name))
			continue
		}
		fmt.Fprintf(&b, "\n%s\n%s: %s\n", rule, definitionName(c.Kind, c.Name), stateWord(c.State))
		for _, w := range c.Warnings {
			indent(&b, "  ! ", w)
		}
		if c.State == "changed" {
			for _, line := range difference(c.Old, c.New) {
				b.WriteString("  " + line + "\n")
			}
			continue
		}
		text := c.New
		if c.State == "removed" {
			text = c.Old
		}
		for _, line := range strings.Split(text, "\n") {
			b.WriteString("    | " + line + "\n")
		}
	}
	if len(unchanged) > 0 {
		fmt.Fprintf(&b, "\n%s\nUnchanged since the last review: %s\n", rule, strings.Join(unchanged, ", "))
	}
	if news {
		fmt.Fprintf(&b, "\n%s\nTo let the model use all of this: steward servers trust %s\n", rule, v.Server)
	}
	return b.String()
}

// definitionName names a definition; a server's configuration and instructions have no
// name of their own.
func definitionName(kind, name string) string {
	switch {
	case kind == "server":
		return "configuration"
	case name == "":
		return kind
	}
	return kind + " " + name
}

func stateWord(state string) string {
	if state == "same" {
		return "unchanged"
	}
	return strings.ToUpper(state)
}

// doctor prints what was found; the status is 1 where something is wrong.
func (r *run) doctor(ctx context.Context) (int, error) {
	server, code := "", exitOK
	if len(r.args) > 0 {
		server = r.args[0]
	}
	failed, err := r.with(ctx, func(ctx context.Context, a *app.App) error {
		list, err := a.Doctor(ctx, server)
		if err != nil {
			return err
		}
		for _, d := range list {
			if !d.OK {
				code = exitFailed
			}
		}
		if r.json {
			return writeJSON(r.Out, list)
		}
		_, err = io.WriteString(r.Out, doctorText(list))
		return err
	})
	return max(code, failed), err
}

func doctorText(list []app.Diagnosis) string {
	var b strings.Builder
	if len(list) == 0 {
		b.WriteString("No servers are configured.\n")
	}
	for i, d := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s: %s\n", clean.Reveal(d.Server), d.State)
		for _, c := range d.Checks {
			mark := "ok  "
			if !c.OK {
				mark = "FAIL"
			}
			indent(&b, fmt.Sprintf("  %s %-9s", mark, c.Check), clean.Clean(c.Message))
			indent(&b, "                 -> ", clean.Clean(c.Hint))
		}
	}
	return b.String()
}

// table writes aligned columns with a heading.
func table(w io.Writer, heading []string, rows int, cells func(int) []string) error {
	all := [][]string{heading}
	for i := range rows {
		all = append(all, cells(i))
	}
	widths := make([]int, len(heading))
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], uniseg.StringWidth(cell)+2)
		}
	}
	out := bufio.NewWriter(w)
	for _, row := range all {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-uniseg.StringWidth(cell)))
			}
		}
		fmt.Fprintln(out, b.String()) // a writer that fails says so when it is flushed
	}
	return out.Flush()
}

// folderEmpty says whether err only means that nothing is stored yet.
func folderEmpty(err error) bool {
	var m *app.Message
	return errors.As(err, &m) && m.Key == "folder_empty"
}
