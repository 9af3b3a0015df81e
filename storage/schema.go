package storage

// applicationID marks the file as ours (sqlite.org/pragma.html#pragma_application_id):
// "STWD" in ASCII.
const applicationID = 0x53545744

// migration is one step of the schema. Steps are never changed once released;
// a change is a further step. Step i makes user_version i+1.
type migration struct {
	// does says in a few words what the step is for, for error messages.
	does string
	sql  []string
}

// released lists the steps of this program's schema.
//
// Texts that can be erased with their conversation stand in message, record, exchange
// and body alone, in the three search tables, and in unindexed. The event rows hold hashes
// and neutral words, so the chain stays verifiable when a body is gone.
// Times are nanoseconds since 1970, 0 for none.
var released = []migration{{does: "the first schema", sql: []string{
	`CREATE TABLE meta(
		key TEXT PRIMARY KEY,
		value BLOB NOT NULL
	) STRICT, WITHOUT ROWID`,
	`CREATE TABLE setting(
		key TEXT PRIMARY KEY,
		value TEXT NOT NULL
	) STRICT, WITHOUT ROWID`,

	`CREATE TABLE conversation(
		n INTEGER PRIMARY KEY,
		id TEXT NOT NULL UNIQUE,
		title TEXT NOT NULL,
		model TEXT NOT NULL,
		created INTEGER NOT NULL,
		updated INTEGER NOT NULL,
		pinned INTEGER NOT NULL,
		archived INTEGER NOT NULL,
		temporary INTEGER NOT NULL,
		deleted INTEGER NOT NULL,
		meta TEXT NOT NULL
	) STRICT`,
	`CREATE INDEX conversation_updated ON conversation(archived, updated)`,
	`CREATE TABLE message(
		seq INTEGER PRIMARY KEY,
		id TEXT NOT NULL UNIQUE,
		conversation TEXT NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,
		parent TEXT NOT NULL,
		role TEXT NOT NULL,
		state TEXT NOT NULL,
		text TEXT NOT NULL,
		reasoning TEXT NOT NULL,
		model TEXT NOT NULL,
		call_id TEXT NOT NULL,
		calls TEXT NOT NULL,
		meta TEXT NOT NULL,
		time INTEGER NOT NULL
	) STRICT`,
	`CREATE INDEX message_conversation ON message(conversation)`,
	`CREATE INDEX message_streaming ON message(seq) WHERE state = 'streaming'`,

	`CREATE TABLE pin(
		server TEXT NOT NULL,
		kind TEXT NOT NULL,
		name TEXT NOT NULL,
		hash TEXT NOT NULL,
		text TEXT NOT NULL,
		reviewed INTEGER NOT NULL,
		PRIMARY KEY(server, kind, name)
	) STRICT, WITHOUT ROWID`,
	`CREATE TABLE grants(
		id TEXT PRIMARY KEY,
		server TEXT NOT NULL,
		tool TEXT NOT NULL,
		definition TEXT NOT NULL,
		server_hash TEXT NOT NULL,
		conversation TEXT NOT NULL,
		created INTEGER NOT NULL,
		revoked INTEGER NOT NULL
	) STRICT`,
	`CREATE TABLE rule(
		n INTEGER PRIMARY KEY,
		id TEXT NOT NULL UNIQUE,
		effect TEXT NOT NULL,
		server TEXT NOT NULL,
		tool TEXT NOT NULL,
		condition TEXT NOT NULL,
		created INTEGER NOT NULL
	) STRICT`,

	`CREATE TABLE event(
		seq INTEGER PRIMARY KEY,
		record INTEGER NOT NULL,
		kind TEXT NOT NULL,
		time INTEGER NOT NULL,
		mono INTEGER NOT NULL,
		run TEXT NOT NULL,
		meta TEXT NOT NULL,
		body_hash BLOB NOT NULL,
		prev BLOB NOT NULL,
		hash BLOB NOT NULL
	) STRICT`,
	`CREATE INDEX event_record ON event(record)`,
	// These two guard against our own faults; they stop no attacker.
	`CREATE TRIGGER event_fixed BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'an event of the journal is never changed'); END`,
	`CREATE TRIGGER event_kept BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'an event of the journal is never deleted'); END`,
	`CREATE TABLE body(
		event INTEGER PRIMARY KEY REFERENCES event(seq),
		nonce BLOB NOT NULL,
		bytes BLOB NOT NULL,
		erased INTEGER NOT NULL
	) STRICT`,
	// The conversations that were erased, by id: only their bodies may be.
	`CREATE TABLE erasure(
		conversation TEXT PRIMARY KEY,
		time INTEGER NOT NULL
	) STRICT, WITHOUT ROWID`,
	`CREATE TABLE record(
		n INTEGER PRIMARY KEY,
		kind TEXT NOT NULL,
		parent INTEGER NOT NULL,
		time INTEGER NOT NULL,
		conversation TEXT NOT NULL,
		server TEXT NOT NULL,
		tool TEXT NOT NULL,
		arguments TEXT NOT NULL,
		decision TEXT NOT NULL,
		decided_by TEXT NOT NULL,
		outcome TEXT NOT NULL,
		effect TEXT NOT NULL,
		seconds REAL NOT NULL,
		model TEXT NOT NULL
	) STRICT`,
	`CREATE INDEX record_time ON record(time)`,
	`CREATE INDEX record_kind ON record(kind)`,
	`CREATE INDEX record_outcome ON record(outcome)`,
	`CREATE INDEX record_server ON record(server)`,
	`CREATE INDEX record_tool ON record(tool, server)`,
	`CREATE INDEX record_conversation ON record(conversation)`,

	// The words are cut by tokens() in search.go; each table keeps its own copy
	// of them, because a contentless FTS4 table cannot delete.
	`CREATE VIRTUAL TABLE conversation_search USING fts4(words, matchinfo=fts3, order=desc, tokenize=unicode61)`,
	`CREATE VIRTUAL TABLE message_search USING fts4(words, matchinfo=fts3, order=desc, tokenize=unicode61)`,
	`CREATE VIRTUAL TABLE record_search USING fts4(words, matchinfo=fts3, order=desc, tokenize=unicode61)`,
}}, {does: "words that wait for the search tables", sql: []string{
	`CREATE TABLE unindexed(
		kind INTEGER NOT NULL,
		docid INTEGER NOT NULL,
		words TEXT NOT NULL,
		PRIMARY KEY(kind, docid)
	) STRICT, WITHOUT ROWID`,
}}, {does: "what went to the model and came back", sql: []string{
	// By the record of the request. Only the last ones of a conversation are kept, see
	// Tx.PutExchange; they go with it.
	`CREATE TABLE exchange(
		record INTEGER PRIMARY KEY,
		conversation TEXT NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,
		size INTEGER NOT NULL,
		bytes BLOB NOT NULL
	) STRICT`,
	`CREATE INDEX exchange_conversation ON exchange(conversation, record, size)`,
	`CREATE INDEX exchange_size ON exchange(record, size)`,
}}}
