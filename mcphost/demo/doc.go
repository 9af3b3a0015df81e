// Package demo is an MCP server to try things with: invented reports, weather,
// flights and trips, clearly named a demo. It shows everything a host has to handle:
// tools with structured results, errors a model can act on, progress, sampling,
// elicitation, prompts, resources that change, resource templates and completion.
//
// It speaks every protocol revision the MCP SDK does, 2024-11-05 to 2026-07-28. In
// the older ones it asks the client by requests of its own; in 2026-07-28, where a
// server may not, by multi-round-trip results (SEP-2322).
//
// All data is made from the arguments alone, so the same question has the same answer
// everywhere. Nothing is stored and no network is used, but for the HTTP form's own
// loopback port.
package demo
