package journal

import (
	"context"
	"errors"
	"io"
	"steward/storage"
	"time"
)

var errUnbuilt = errors.New("not built yet")

type AnchorStore interface {
	Load(ctx context.Context) (string, error)
	Save(ctx context.Context, anchor string) error
}
type Options struct {
	Store      *storage.DB
	Dir        string
	Anchor     AnchorStore
	Redact     func(string) string
	Now        func() time.Time
	OnDegraded func(error)
}
type Journal struct{}
type Recovery struct {
	Unknown, Withdrawn []Record
	Problem            string
}
type Record struct {
	Record       int64     `json:"record"`
	Kind         Kind      `json:"kind"`
	Parent       int64     `json:"parent"`
	Time         time.Time `json:"time"`
	Conversation string    `json:"conversation"`
	Server       string    `json:"server"`
	Tool         string    `json:"tool"`
	Arguments    string    `json:"arguments"`
	Decision     string    `json:"decision"`
	By           string    `json:"by"`
	Outcome      string    `json:"outcome"`
	Effect       string    `json:"effect"`
	Seconds      float64   `json:"seconds"`
	Model        string    `json:"model"`
}
type Detail struct{ Record }
type Verification struct {
	OK                  bool
	Events              int64
	BadRecord, BadEvent int64
	Problem             string
	AnchorChecked       string
	Notice              string
}
type Entry struct{}
type Receipt struct{}

func Open(ctx context.Context, o Options) (*Journal, Recovery, error) {
	return nil, Recovery{}, errUnbuilt
}
func OpenReadOnly(ctx context.Context, o Options) (*Journal, error)             { return nil, errUnbuilt }
func (*Journal) Close(ctx context.Context) error                                { return errUnbuilt }
func (*Journal) Propose(ctx context.Context, p Proposal) (*Entry, error)        { return nil, errUnbuilt }
func (*Journal) Note(ctx context.Context, p Proposal, o Outcome) (int64, error) { return 0, errUnbuilt }
func (*Entry) Number() int64                                                    { return 0 }
func (*Entry) Shown(ctx context.Context, hash string) error                     { return errUnbuilt }
func (*Entry) Decided(ctx context.Context, d Decision) error                    { return errUnbuilt }
func (*Entry) Intent(ctx context.Context, exact []byte) (*Receipt, error)       { return nil, errUnbuilt }
func (*Entry) Sent()                                                            {}
func (*Entry) Attempt(ctx context.Context, what string, detail any) error       { return errUnbuilt }
func (*Entry) Outcome(ctx context.Context, o Outcome) error                     { return errUnbuilt }
func (*Entry) Late(ctx context.Context, raw []byte) error                       { return errUnbuilt }
func (*Entry) Frames(f []Frame)                                                 {}
func (*Receipt) Spend(exact []byte) error                                       { return errUnbuilt }
func (*Journal) List(ctx context.Context, f Filter) ([]Record, error)           { return nil, errUnbuilt }
func (*Journal) Show(ctx context.Context, n int64) (Detail, error)              { return Detail{}, errUnbuilt }
func (*Journal) Export(ctx context.Context, w io.Writer, format string, f Filter) error {
	return errUnbuilt
}
func (*Journal) Verify(ctx context.Context) (Verification, error) { return Verification{}, errUnbuilt }
