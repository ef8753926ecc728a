package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// These tests keep the faults. The lesson shows each of them, so a version of
// naive without one of them would be as wrong as any other broken code.

// runNaive runs naive until it has printed what must be printed, or for a second
// of synctest's time. It returns the versions that its watches asked for. The last
// of the streams is for all watches that follow.
func runNaive(t *testing.T, n *naive, until string, streams ...func(context.Context) (watch.Interface, error)) (stdout, stderr string, asked []string) {
	t.Helper()
	var out, errs bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		client := fake.NewClientset()
		client.PrependWatchReactor("pods", func(action clienttesting.Action) (bool, watch.Interface, error) {
			asked = append(asked, action.(clienttesting.WatchActionImpl).ListOptions.ResourceVersion)
			stream, err := next(&streams)(ctx)
			return true, stream, err
		})
		n.client = client
		n.out, n.err = &out, writerFunc(func(p []byte) (int, error) {
			errs.Write(p)
			if strings.Contains(errs.String(), until) {
				cancel()
			}
			return len(p), nil
		})
		require.NoError(t, n.run(ctx))
	})
	return out.String(), errs.String(), asked
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func added(name string, version int) watch.Event {
	return watch.Event{Type: watch.Added, Object: pod(name, version)}
}

func TestFault1NothingIsRememberedAndDeletionsAreLost(t *testing.T) {
	stdout, _, asked := runNaive(t, &naive{reconnect: true}, "closed\nerror: the channel is closed\n",
		closing(added("a", 3), added("b", 4)), closing(added("a", 3))) // b was deleted in between
	assert.Equal(t, []string{"", ""}, asked[:2])
	assert.Equal(t, "ADDED pod a in namespace default\nADDED pod b in namespace default\nADDED pod a in namespace default\n", stdout)
}

func TestFault2AFailedWatchIsRetriedEveryMillisecond(t *testing.T) {
	_, stderr, asked := runNaive(t, &naive{}, "never", noWatch(errUnreachable))
	assert.InDelta(t, 1000, len(asked), 1, "in a second")
	assert.Contains(t, stderr, "error: connection refused\n")
}

func TestFault3AClosedChannelSpins(t *testing.T) {
	_, stderr, asked := runNaive(t, &naive{}, strings.Repeat("error: the channel is closed\n", 1000), closing(added("a", 3)))
	assert.Len(t, asked, 1, "it never watches again")
	assert.NotContains(t, stderr, "refused")
}

func TestFault4AnErrorIsPrintedLikeAnEvent(t *testing.T) {
	stdout, _, _ := runNaive(t, &naive{version: "1"}, "closed", closing(gone()))
	assert.Equal(t, "ERROR\n", stdout)
}

func TestNaiveBeginsAtTheVersionThatIsAskedFor(t *testing.T) {
	_, _, asked := runNaive(t, &naive{version: "1"}, "closed", closing())
	assert.Equal(t, []string{"1"}, asked)
}
