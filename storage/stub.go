package storage

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

var errUnbuilt = errors.New("not built yet")

type Options struct {
	Dir      string
	ReadOnly bool
	Program  string
	Now      func() time.Time
	OnError  func(error)
}
type DB struct{}
type Tx struct{}

func Open(ctx context.Context, o Options) (*DB, error)          { return nil, errUnbuilt }
func (*DB) Close() error                                        { return errUnbuilt }
func (*DB) FolderID() string                                    { return "" }
func (*DB) Write(ctx context.Context, fn func(*Tx) error) error { return errUnbuilt }
func (*DB) Later(fn func(*Tx) error)                            {}
func (*DB) Flush(ctx context.Context) error                     { return errUnbuilt }
func (*Tx) PutConversation(c Conversation) error                { return errUnbuilt }
func (*Tx) PutMessage(m Message) error                          { return errUnbuilt }
func (*Tx) DeleteConversation(id string) error                  { return errUnbuilt }
func (*DB) Conversation(ctx context.Context, id string) (Conversation, error) {
	return Conversation{}, errUnbuilt
}
func (*DB) Conversations(ctx context.Context, f ConversationFilter) ([]Conversation, error) {
	return nil, errUnbuilt
}
func (*DB) Messages(ctx context.Context, conversation string, before int64, limit int) ([]Message, error) {
	return nil, errUnbuilt
}
func (*DB) InterruptStreaming(ctx context.Context) (int, error)              { return 0, errUnbuilt }
func (*Tx) PutPin(p Pin) error                                               { return errUnbuilt }
func (*Tx) DeletePins(server string) error                                   { return errUnbuilt }
func (*DB) Pins(ctx context.Context, server string) ([]Pin, error)           { return nil, errUnbuilt }
func (*Tx) PutGrant(g Grant) error                                           { return errUnbuilt }
func (*DB) Grants(ctx context.Context) ([]Grant, error)                      { return nil, errUnbuilt }
func (*Tx) PutRule(r Rule) error                                             { return errUnbuilt }
func (*Tx) DeleteRule(id string) error                                       { return errUnbuilt }
func (*DB) Rules(ctx context.Context) ([]Rule, error)                        { return nil, errUnbuilt }
func (*Tx) PutSetting(key string, v json.RawMessage) error                   { return errUnbuilt }
func (*DB) Setting(ctx context.Context, key string) (json.RawMessage, error) { return nil, errUnbuilt }
