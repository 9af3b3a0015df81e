// Package schema reads and judges JSON without losing anything of it.
//
// It has three parts:
//
//   - strict reading of JSON texts: [Compact], [Canonical] and [ParseObject] keep
//     the order of names, names that appear twice, the text of every number and the
//     escapes of every string, and refuse what is not exactly one JSON value
//     (RFC 8259);
//   - JSON Schema: [Compile] and [Schema.Validate], bounded in bytes, depth, number
//     of subschemas and time, never fetching anything (JSON Schema 2020-12, and
//     2019-09, draft-07, draft-06 and draft-04 where "$schema" says so);
//   - forms for elicitation: [ParseForm] turns the restricted schemas of
//     elicitation/create (MCP 2026-07-28, client/elicitation), and what servers send
//     in practice, into fields in the order of the schema.
//
// Everything here is a pure function of its arguments, or immutable after it was
// made, and may be used by several goroutines at once. Nothing touches the network
// or the disk.
package schema
