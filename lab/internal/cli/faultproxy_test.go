package cli

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/settings"
)

func TestTheRequestsCanBeFollowedBeforeTheFirst(t *testing.T) {
	l, err := layout.New(filepath.Join(t.TempDir(), "lab"))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	runFaultProxy(ctx, l, settings.Settings{}, slog.New(slog.DiscardHandler))
	assert.FileExists(t, l.Log(requestsLog))
}
