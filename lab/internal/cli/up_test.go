package cli

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/cluster"
)

func TestWhyTheWaitingEnded(t *testing.T) {
	late, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("not usable within 1ms"))
	defer cancel()
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	hopeless, stop := context.WithCancelCause(t.Context())
	stop(errors.New("etcd keeps ending"))
	for want, ctx := range map[string]context.Context{
		"waiting until node n is Ready: not usable within 1ms (last answer: no kubelet) (to look closer: lab status, lab logs COMPONENT)": late,
		"interrupted; the lab goes on starting in the background (to look: lab status; to stop it: lab down)":                             interrupted,
		"etcd keeps ending (to look closer: lab status, lab logs COMPONENT)":                                                              hopeless,
	} {
		err := cluster.Wait(ctx, cluster.Condition{Name: "node n is Ready", Check: func(context.Context) error { return errors.New("no kubelet") }})
		require.EqualError(t, explain(ctx, err), want)
	}
}
