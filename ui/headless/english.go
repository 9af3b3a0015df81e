package headless

import (
	"strings"

	"steward/app"
)

// english words a message. {name} stands for an argument.
func english(m app.Message) string {
	text, ok := englishText(m.Key)
	if !ok {
		text = "{detail}"
	}
	pairs := []string{"{detail}", m.Args["detail"]}
	for name, value := range m.Args {
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.TrimSpace(strings.NewReplacer(pairs...).Replace(text))
}

func englishText(key string) (string, bool) {
	switch key {
	case "folder_newer":
		return "{detail} Steward has changed nothing.", true
	case "took_too_long":
		return "This took too long and was given up: {detail}", true
	case "stopped":
		return "Stopped.", true
	case "not_permitted":
		return "{detail}. Check who may read and write there.", true
	case "server_disabled":
		return "The server {server} is disabled in the servers file; remove \"disabled\" there to use it.", true
	case "server_unusable":
		return "The server {server} cannot be used: {detail}", true
	case "server_unknown":
		return "There is no server named {server}; there are: {servers}.", true
	case "no_servers":
		return "There is no server named {server}: {file} holds none.", true
	case "tool_unknown":
		return "The server {server} has no tool named {tool}; it has: {tools}.", true
	case "signin_given_up":
		return "Signing in to the server {server} was given up.", true
	case "signin_refused":
		return "You did not sign in to the server {server}.", true
	case "no_demo_model":
		return "No model is set and this build has no demo model; give --base-url and --model.", true
	case "key_missing":
		return "The environment variable {variable}, named by --api-key-env, is not set, so the endpoint is asked without a key.", true
	case "no_endpoint":
		return "--model needs an endpoint: give --base-url as well.", true
	}
	return "", false
}
