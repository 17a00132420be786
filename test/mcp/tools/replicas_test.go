package tools_test

import (
	"testing"

	"aion/test/mcp/wire"
)

// mcp 29
func TestEveryTestHoldsOverTwoServers(t *testing.T) {
	t.Parallel()
	wire.AgainOverTwoServers(t)
}
