package secretsync

import (
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestAnEventIsToldOnceByAllWorkers(t *testing.T) {
	client := fake.NewClientset()
	told := newEvents(client)
	token := aSource(token)
	var first atomic.Int32
	var workers errgroup.Group
	for range 8 {
		workers.Go(func() error {
			isFirst, err := told.tell(t.Context(), token, token, decision{refuse, ""})
			if isFirst {
				first.Add(1)
			}
			return err
		})
	}
	require.NoError(t, workers.Wait())
	assert.EqualValues(t, 1, first.Load())
	list, err := client.EventsV1().Events("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, list.Items, 1)
}

func TestAnEventIsToldOnceAcrossRestarts(t *testing.T) {
	client := fake.NewClientset()
	for range 2 {
		isFirst, err := newEvents(client).tell(t.Context(), aCopy(unmarked), aSource(), decision{collide, ""})
		require.NoError(t, err)
		assert.True(t, isFirst, "of this run")
	}
	list, err := client.EventsV1().Events("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, list.Items, 1)
}

func TestWhatWasToldIsRememberedUpToALimit(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) { return true, &eventsv1.Event{}, nil })
	told := newEvents(client)
	for i := range remembered + 10 {
		token := aSource(token)
		token.UID = types.UID(strconv.Itoa(i))
		first, err := told.tell(t.Context(), token, token, decision{refuse, ""})
		require.NoError(t, err)
		require.True(t, first)
	}
	assert.Equal(t, remembered, told.told.Len())
}
