package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// lister is a client that only lists.
type lister struct {
	typedcorev1.NamespaceInterface
	list func(context.Context, metav1.ListOptions) (*corev1.NamespaceList, error)
}

func (l lister) List(ctx context.Context, options metav1.ListOptions) (*corev1.NamespaceList, error) {
	return l.list(ctx, options)
}

// answer is the server's answer to one request: names, a token for the rest, or an error.
type answer struct {
	names, token string
	err          error
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
		names   string
		tokens  string // of the requests; the first has none
		err     error
	}{
		"a short list is one request":                              {[]answer{{"a", "", nil}}, "a", "", nil},
		"an error of the first request is all that comes":          {[]answer{{"", "", broken}}, "", "", broken},
		"each request carries the token of the page before":        {[]answer{{"a b", "1", nil}, {"c d", "2", nil}, {"e", "", nil}}, "a b c d e", " 1 2", nil},
		"an empty page is not the end":                             {[]answer{{"", "1", nil}, {"a", "", nil}}, "a", " 1", nil},
		"a token that expired is replaced by the one in the error": {[]answer{{"a", "1", nil}, {"", "", expired("1b")}, {"b", "2", nil}, {"c", "", nil}}, "a b c", " 1 1b 2", nil},
		"a token that expired and has no successor is an error":    {[]answer{{"a", "1", nil}, {"", "", expired("")}}, "a", " 1", expired("")},
		"the same token twice is an error, not a loop":             {[]answer{{"a", "1", nil}, {"", "", expired("1")}}, "a", " 1", expired("1")},
		"an error ends the list":                                   {[]answer{{"a", "1", nil}, {"", "", broken}}, "a", " 1", broken},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var names, tokens []string
			var last error
			client := lister{list: func(_ context.Context, options metav1.ListOptions) (*corev1.NamespaceList, error) {
				require.EqualValues(t, 2, options.Limit)
				require.Less(t, len(tokens), len(tc.answers), "one request too many")
				a := tc.answers[len(tokens)]
				tokens = append(tokens, options.Continue)
				return namespaceList(a.token, strings.Fields(a.names)...), a.err
			}}
			for page, err := range pages(t.Context(), client, 2, time.Minute) {
				names, last = append(names, namesOf(page)...), err
			}
			assert.Equal(t, tc.names, strings.Join(names, " "))
			assert.Equal(t, tc.tokens, strings.Join(tokens, " "))
			assert.Equal(t, tc.err, last)
		})
	}
}

func namesOf(namespaces []corev1.Namespace) []string {
	var names []string
	for _, namespace := range namespaces {
		names = append(names, namespace.Name)
	}
	return names
}

func TestPagesStopWhenTheReaderDoes(t *testing.T) {
	requests := 0
	client := lister{list: func(context.Context, metav1.ListOptions) (*corev1.NamespaceList, error) {
		requests++
		return namespaceList("forever"), nil
	}}
	for _, err := range pages(t.Context(), client, 1, time.Minute) {
		require.NoError(t, err)
		break
	}
	assert.Equal(t, 1, requests)
}

// TestEachRequestHasADeadline has a server that takes seven seconds for each page, and never sends the last
// one.
func TestEachRequestHasADeadline(t *testing.T) {
	for name, answered := range map[string]int{"the first": 0, "the next": 2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests := 0
				client := lister{list: func(ctx context.Context, _ metav1.ListOptions) (*corev1.NamespaceList, error) {
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
