package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

func rawCommand(o *options) *cobra.Command {
	var showWire bool
	command := &cobra.Command{
		Use:   "raw",
		Short: "The same as pods, with nothing but HTTP and JSON",
		RunE: o.with(func(command *cobra.Command, config *rest.Config, namespace string) error {
			wire := io.Discard
			if showWire {
				wire = command.ErrOrStderr()
			}
			note := notesOf(command)
			source, err := newRawSource(config, namespace, o.selector, wire, note)
			if err != nil {
				return err
			}
			return newFollower(source, printText(command.OutOrStdout(), "Pod"), note, o.requestTimeout).run(command.Context())
		}),
	}
	command.Flags().BoolVar(&showWire, "show-wire", false, "print each request, and each byte of its answer, to stderr")
	return command
}

// rawSource lists and watches pods with nothing but HTTP and JSON. It is what
// podSource does, without client-go's typed client: a cache.ListerWatcher that
// hides nothing.
type rawSource struct {
	client   *http.Client // knows the certificates and the credentials
	pods     *url.URL
	selector string
	wire     io.Writer // gets what is sent and received
	note     func(format string, args ...any)
}

// newRawSource takes from client-go only the transport: TLS and credentials are
// no lesson here.
func newRawSource(config *rest.Config, namespace, selector string, wire io.Writer, note func(string, ...any)) (*rawSource, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	path := "/api/v1/pods"
	if namespace != metav1.NamespaceAll {
		path = "/api/v1/namespaces/" + namespace + "/pods"
	}
	pods := server.JoinPath("/").JoinPath(path) // a server may be behind a path of its own
	return &rawSource{client: client, pods: pods, selector: selector, wire: wire, note: note}, nil
}

// ListWithContext makes the first of the two requests.
func (s *rawSource) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	query := url.Values{"limit": {strconv.FormatInt(options.Limit, 10)}}
	if options.Continue != "" {
		query.Set("continue", options.Continue)
	}
	body, err := s.get(ctx, query)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	list := &corev1.PodList{}
	if err := json.NewDecoder(body).Decode(list); err != nil {
		return nil, fmt.Errorf("decoding the list: %w", err)
	}
	return list, nil
}

// WatchWithContext makes the second. Its answer is a stream of JSON objects, one
// for each event, and ends when the server has had enough of it.
func (s *rawSource) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	ctx, cancel := context.WithCancel(ctx)
	body, err := s.get(ctx, url.Values{
		"watch":               {"true"},
		"resourceVersion":     {options.ResourceVersion},
		"allowWatchBookmarks": {"true"},
		"timeoutSeconds":      {strconv.FormatInt(*options.TimeoutSeconds, 10)},
	})
	if err != nil {
		cancel()
		return nil, err
	}
	events, errs := decodeEvents(ctx, body)
	stream := &rawWatch{events: events, cancel: cancel, closed: make(chan struct{})}
	go func() {
		defer close(stream.closed)
		if err := <-errs; !errors.Is(err, io.EOF) && !errors.Is(err, context.Canceled) {
			s.note("the stream broke off (%v)", err)
		}
		body.Close()
	}()
	return stream, nil
}

// get sends the request and returns the body of a good answer. A bad one holds a
// Status, which has a message and a reason.
func (s *rawSource) get(ctx context.Context, query url.Values) (io.ReadCloser, error) {
	if s.selector != "" {
		query.Set("labelSelector", s.selector)
	}
	address := *s.pods
	address.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	fmt.Fprintf(s.wire, "> GET %s\n", address.RequestURI())

	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(s.wire, "< %s %s\n", response.Proto, response.Status)
	body := teeBody{io.TeeReader(response.Body, s.wire), response.Body}
	if response.StatusCode == http.StatusOK {
		return body, nil
	}
	defer body.Close()
	status := metav1.Status{}
	if err := json.NewDecoder(body).Decode(&status); err != nil || status.Kind != "Status" { // a proxy's own answer
		return nil, fmt.Errorf("the server answered %s", response.Status)
	}
	return nil, &apierrors.StatusError{ErrStatus: status}
}

// teeBody is a body whose bytes are shown as they are read.
type teeBody struct {
	io.Reader
	io.Closer
}
