package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	k8stesting "k8s.io/client-go/testing"
)

// answer is the server's answer to one request.
type answer struct {
	names []string
	token string
	err   error
}

// list walks through the pages and returns what it saw: the names in order,
// the Continue token of every request, and the error at the end.
func list(ctx context.Context, t *testing.T, limit int64, answers ...answer) (names, tokens []string, err error) {
	t.Helper()
	client := fake.NewClientset()
	client.PrependReactor("list", "namespaces", func(action k8stesting.Action) (bool, runtime.Object, error) {
		options := action.(k8stesting.ListActionImpl).ListOptions
		require.Equal(t, limit, options.Limit)
		require.Less(t, len(tokens), len(answers), "one request too many")
		a := answers[len(tokens)]
		tokens = append(tokens, options.Continue)
		if a.err != nil {
			return true, nil, a.err
		}
		return true, namespaceList(a.token, a.names...), nil
	})
	for page, err := range pages(ctx, client.CoreV1().Namespaces(), limit, time.Minute) {
		if err != nil {
			return names, tokens, err
		}
		for _, namespace := range page {
			names = append(names, namespace.Name)
		}
	}
	return names, tokens, nil
}

func TestPages(t *testing.T) {
	expired := func(token string) error {
		err := apierrors.NewResourceExpired("the provided continue parameter is too old")
		err.ErrStatus.Continue = token
		return err
	}
	broken := errors.New("connection reset")

	tests := map[string]struct {
		answers []answer
		names   []string
		tokens  []string
		err     error
	}{
		"a short list is one request": {
			answers: []answer{{names: []string{"a"}}},
			names:   []string{"a"},
			tokens:  []string{""},
		},
		"an error of the first request is all that comes": {
			answers: []answer{{err: broken}},
			tokens:  []string{""},
			err:     broken,
		},
		"each request carries the token of the page before": {
			answers: []answer{{names: []string{"a", "b"}, token: "1"}, {names: []string{"c", "d"}, token: "2"}, {names: []string{"e"}}},
			names:   []string{"a", "b", "c", "d", "e"},
			tokens:  []string{"", "1", "2"},
		},
		"an empty page is not the end": {
			answers: []answer{{token: "1"}, {names: []string{"a"}}},
			names:   []string{"a"},
			tokens:  []string{"", "1"},
		},
		"a token that expired is replaced by the one in the error": {
			answers: []answer{{names: []string{"a"}, token: "1"}, {err: expired("1b")}, {names: []string{"b"}, token: "2"}, {names: []string{"c"}}},
			names:   []string{"a", "b", "c"},
			tokens:  []string{"", "1", "1b", "2"},
		},
		"a token that expired and has no successor is an error": {
			answers: []answer{{names: []string{"a"}, token: "1"}, {err: expired("")}},
			names:   []string{"a"},
			tokens:  []string{"", "1"},
			err:     expired(""),
		},
		"the same token twice is an error, not a loop": {
			answers: []answer{{names: []string{"a"}, token: "1"}, {err: expired("1")}},
			names:   []string{"a"},
			tokens:  []string{"", "1"},
			err:     expired("1"),
		},
		"an error ends the list": {
			answers: []answer{{names: []string{"a"}, token: "1"}, {err: broken}},
			names:   []string{"a"},
			tokens:  []string{"", "1"},
			err:     broken,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			names, tokens, err := list(t.Context(), t, 2, tc.answers...)
			assert.Equal(t, tc.names, names)
			assert.Equal(t, tc.tokens, tokens)
			assert.Equal(t, tc.err, err)
		})
	}
}

func TestPagesStopWhenTheReaderDoes(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("list", "namespaces", func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, &corev1.NamespaceList{ListMeta: metav1.ListMeta{Continue: "for ever"}}, nil
	})
	for _, err := range pages(t.Context(), client.CoreV1().Namespaces(), 1, time.Minute) {
		require.NoError(t, err)
		break
	}
	assert.Len(t, client.Actions(), 1)
}

// lister is a client that only lists.
type lister struct {
	typedcorev1.NamespaceInterface
	list func(context.Context) (*corev1.NamespaceList, error)
}

func (l lister) List(ctx context.Context, _ metav1.ListOptions) (*corev1.NamespaceList, error) {
	return l.list(ctx)
}

// TestEachRequestHasADeadline has a server that takes seven seconds for each page, but
// never sends the last one. It runs in the fake time of synctest.
func TestEachRequestHasADeadline(t *testing.T) {
	for name, answered := range map[string]int{"the first": 0, "the next": 2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests := 0
				client := lister{list: func(ctx context.Context) (*corev1.NamespaceList, error) {
					if requests++; requests > answered {
						<-ctx.Done()
						return nil, ctx.Err()
					}
					<-time.After(7 * time.Second)
					return namespaceList("more"), ctx.Err()
				}}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				began := time.Now()
				var last error
				for _, err := range pages(ctx, client, 1, 10*time.Second) {
					last = err
				}
				require.ErrorIs(t, last, context.DeadlineExceeded)
				assert.Equal(t, time.Duration(answered)*7*time.Second+10*time.Second, time.Since(began))
			})
		})
	}
}
