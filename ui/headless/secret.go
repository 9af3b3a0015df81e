package headless

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"steward/app"
	"steward/app/clean"
)

// maxTyped bounds a secret or a passphrase, in bytes.
const maxTyped = 64 << 10

// hidden reads one line that is shown nowhere: typed without echo where there is a
// terminal, else the first line of stdin.
func (r *run) hidden(ctx context.Context, prompt string) (string, error) {
	t, done, err := r.ownTerminal()
	if err == nil {
		defer done()
		return t.askHidden(ctx, prompt)
	}
	if !errors.Is(err, errNoTerminal) {
		return "", err
	}
	line, err := bufio.NewReader(io.LimitReader(r.In, maxTyped)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("stdin cannot be read: %w", err)
	}
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return "", errors.New("nothing was given: type it at the terminal, or write it to stdin as one line")
	}
	return line, nil
}

// storeSecret keeps what --secret names, before its server is started.
func (r *run) storeSecret(ctx context.Context, a *app.App) error {
	if r.secret == "" {
		return nil
	}
	if err := a.NamesSecret(r.args[0], r.secret); err != nil {
		return err
	}
	value, err := r.hidden(ctx, "The value of "+clean.Reveal(r.secret)+" (not shown): ")
	if err != nil {
		return err
	}
	if err := a.StoreSecret(ctx, r.args[0], r.secret, app.NewSecret(value)); err != nil {
		return err
	}
	fmt.Fprintf(r.Err, "The secret %s is stored.\n", clean.Reveal(r.secret))
	return nil
}

// readPassphrase gets the passphrase of the encrypted file where a flag chooses it.
func (r *run) readPassphrase(ctx context.Context) (err error) {
	switch {
	case r.passphraseEnv != "":
		if r.passphrase = os.Getenv(r.passphraseEnv); r.passphrase == "" {
			return usagef("the environment variable %s, named by --passphrase-env, is not set", r.passphraseEnv)
		}
	case r.secretsFile:
		t, err := openTerminal(r.In, r.Err, asking{stdinTaken: true})
		if err != nil {
			return usagef("--secrets-file asks for the passphrase, but %s; --passphrase-env VAR takes it from a variable", errNoTerminal)
		}
		defer t.close()
		if r.passphrase, err = t.askHidden(ctx, "Passphrase of the secrets file (not shown): "); err != nil {
			return err
		}
		if r.passphrase == "" {
			return usagef("the passphrase is empty")
		}
	}
	return nil
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
