package send_test

import (
	"testing"

	"steward/mcphost/internal/trial"
)

func TestMain(m *testing.M) { trial.Main(m) }
