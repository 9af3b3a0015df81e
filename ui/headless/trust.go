package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"steward/app"
)

// review prints what a server offers and notes that this was shown.
func (r *run) review(ctx context.Context, a *app.App) error {
	if err := r.storeSecret(ctx, a); err != nil {
		return err
	}
	review, err := a.Review(ctx, r.args[0])
	if err != nil {
		return err
	}
	if _, err := io.WriteString(r.Out, reviewText(review)); err != nil {
		return fmt.Errorf("the review cannot be written, so it does not count as shown: %w", err)
	}
	return a.Shown(ctx, r.args[0], review)
}

// trust marks what was shown last as reviewed. Where that is not what the server offers
// now, a person at a terminal is shown it and asked; without a terminal nothing is trusted.
func (r *run) trust(ctx context.Context, a *app.App) error {
	if r.secret != "" && len(r.args) > 1 {
		return usagef("--secret is for one server, not for %d", len(r.args))
	}
	var errs []error
	for _, name := range r.args { // one that cannot be trusted does not keep the others
		if r.revokeGrants {
			errs = append(errs, r.revoke(ctx, a, name))
		} else {
			errs = append(errs, r.trustOne(ctx, a, name))
		}
	}
	return errors.Join(errs...)
}

func (r *run) trustOne(ctx context.Context, a *app.App, name string) error {
	if err := r.storeSecret(ctx, a); err != nil {
		return err
	}
	review, err := a.Trust(ctx, name, "")
	var not *app.NotShown
	if errors.As(err, &not) {
		err = r.trustAfterAsking(ctx, a, name, review, not)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(r.Out, trustText(review))
	return err
}

func (r *run) trustAfterAsking(ctx context.Context, a *app.App, name string, review app.Review, not *app.NotShown) error {
	t, done, err := r.ownTerminal()
	if errors.Is(err, errNoTerminal) {
		return r.trustUnasked(ctx, a, name, review, not)
	}
	if err != nil {
		return err
	}
	defer done()
	head := "Nobody has been shown yet what this server offers. This is all of it:\n\n"
	if !not.At.IsZero() {
		head = "This is not what was shown before. This is all it offers now:\n\n"
	}
	t.print(head + reviewText(review) + "\n")
	answer, err := t.choose(ctx, "Trust all of this? Type yes or no, then Enter: ", []choice{{key: "y", word: "yes"}, {key: "n", word: "no"}})
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if answer != "y" {
		return fmt.Errorf("the server %s was not trusted: you did not say yes", not.Server)
	}
	if err := a.Shown(ctx, name, review); err != nil {
		return err
	}
	_, err = a.Trust(ctx, name, review.Hash)
	return err
}

// trustUnasked is trust where nobody can be asked, as in a script: the first time, the
// command itself is the yes, and all that it covers is written out before it counts. What
// is not what was shown before needs eyes, and is refused.
func (r *run) trustUnasked(ctx context.Context, a *app.App, name string, review app.Review, not *app.NotShown) error {
	if !not.At.IsZero() {
		return not
	}
	if _, err := io.WriteString(r.Out, reviewText(review)+"\n"); err != nil {
		return fmt.Errorf("what the server offers cannot be written, so it was not trusted: %w", err)
	}
	if err := a.Shown(ctx, name, review); err != nil {
		return err
	}
	_, err := a.Trust(ctx, name, review.Hash)
	return err
}

func trustText(v app.Review) string {
	n := v.Pending()
	if n == 0 && !v.Blocked {
		return fmt.Sprintf("Server %s: everything was reviewed before.\n", v.Server)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Server %s: trusted as it is now.\n", v.Server)
	for _, c := range v.Changes {
		if c.State != "same" {
			fmt.Fprintf(&b, "  %s: %s\n", definitionName(c.Kind, c.Name), c.State)
		}
	}
	fmt.Fprintf(&b, "The server %s is trusted now.\n", v.Server)
	return b.String()
}
