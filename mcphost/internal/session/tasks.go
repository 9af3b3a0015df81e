package session

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"steward/mcphost/internal/wire"
)

// TasksExtension is the extension with which a server of 2026-07-28 may answer
// tools/call with a task (io.modelcontextprotocol/tasks, 2026-07-28). It is
// declared in every request.
const TasksExtension = "io.modelcontextprotocol/tasks"

// taskMethods are the requests about tasks, of both forms, that the protocol
// library does not know.
var taskMethods = []string{"tasks/get", "tasks/result", "tasks/update", "tasks/cancel"}

// taskParams and taskResult stand for what the Tap puts in and takes out.
type (
	taskParams struct{ mcp.ParamsBase }
	taskResult struct{ mcp.ResultBase }
)

// Tasks are the capabilities of the older form of tasks (MCP 2025-11-25,
// basic/utilities/tasks), for wire.Options.Capabilities. Which requests a server
// may make as a task is left out: none.
func Tasks() []wire.Member {
	return []wire.Member{{Name: "tasks", Value: json.RawMessage(`{"list":{},"cancel":{}}`)}}
}
