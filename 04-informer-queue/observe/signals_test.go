package main

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheSecondSignalOrTheTimeKills(t *testing.T) {
	tests := map[string]struct {
		second time.Duration // when it comes; 0: never
		want   time.Duration // when the child is killed
	}{
		"one signal":          {0, 20 * time.Second},
		"two signals":         {3 * time.Second, 3 * time.Second},
		"the second too late": {30 * time.Second, 20 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stop, cancelStop := context.WithCancel(t.Context())
				kill, cancelKill := context.WithCancel(t.Context())
				signals := make(chan os.Signal, 2)
				go escalate(signals, gracePeriod, cancelStop, cancelKill)
				synctest.Wait()
				require.NoError(t, stop.Err())

				start := time.Now()
				signals <- os.Interrupt
				if tc.second > 0 {
					time.AfterFunc(tc.second, func() { signals <- os.Interrupt })
				}
				synctest.Wait()
				require.Error(t, stop.Err())
				require.NoError(t, kill.Err())
				<-kill.Done()
				assert.Equal(t, tc.want, time.Since(start))
				time.Sleep(time.Minute) //nolint:forbidigo // fake time: the late signal is sent
			})
		})
	}
}
