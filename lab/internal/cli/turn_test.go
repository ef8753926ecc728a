package cli

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/layout"
)

// The reset that an up waits for deletes the folder, and the lock with it.
func TestAnUpThatHasWaitedForAResetIsAloneInAWholeFolder(t *testing.T) {
	for name, notes := range map[string]bool{"of which nothing is left": false, "in which a file of the user's is left": true} {
		t.Run(name, func(t *testing.T) {
			l, err := layout.New(filepath.Join(t.TempDir(), "lab"))
			require.NoError(t, err)
			reset, err := takeTurn(t.Context(), l)
			require.NoError(t, err)
			if notes {
				require.NoError(t, os.WriteFile(l.Join("notes"), nil, 0o600))
			}
			type turn struct {
				unlock func()
				err    error
			}
			up := make(chan turn, 1)
			began := make(chan bool)
			go func() {
				close(began)
				unlock, err := takeTurn(t.Context(), l)
				up <- turn{unlock, err}
			}()
			<-began // it waits now, or comes later: both must be well
			_, err = l.Remove(nil)
			require.NoError(t, err)
			reset()
			got := <-up
			require.NoError(t, got.err)
			defer got.unlock()
			assert.DirExists(t, l.StaticPods())
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			_, err = takeTurn(ctx, l)
			require.ErrorIs(t, err, context.DeadlineExceeded, "a third command has to wait")
		})
	}
}
