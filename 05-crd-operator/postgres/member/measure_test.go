package member

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTheDiskIsMeasuredOftenWhenLittleIsLeft(t *testing.T) {
	for name, tc := range map[string]struct {
		room       int64 // bytes
		took, want time.Duration
	}{
		"much room":                   {1 << 40, time.Millisecond, 5 * time.Second},
		"much room, and many files":   {1 << 40, time.Second, 20 * time.Second},
		"a gigabyte":                  {1 << 30, time.Millisecond, 4 * time.Second},
		"little room":                 {1 << 20, time.Millisecond, 250 * time.Millisecond},
		"little room, a busy machine": {1 << 20, 300 * time.Millisecond, time.Second},
		"nearly full":                 {-1, 300 * time.Millisecond, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := &space{left: tc.room}
			assert.Equal(t, tc.want, s.pause(tc.took))
		})
	}
}
