package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// source makes the two requests. The clientset's pods are one, and rawPods is another.
type source interface {
	List(context.Context, metav1.ListOptions) (*corev1.PodList, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// rawPods lists and watches pods with nothing but HTTP and JSON: it's a clientset that hides nothing.
type rawPods struct {
	client *http.Client
	url    *url.URL
	out    io.Writer // gets each request
}

// newRawPods takes only the transport from client-go, which has the certificates and the credentials.
func newRawPods(config *rest.Config, out io.Writer) (*rawPods, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	return &rawPods{client: client, url: server.JoinPath("/").JoinPath("/api/v1/pods"), out: out}, nil
}

// List makes the first of the two requests.
func (p *rawPods) List(ctx context.Context, options metav1.ListOptions) (*corev1.PodList, error) {
	body, err := p.get(ctx, url.Values{
		"labelSelector":   {options.LabelSelector},
		"resourceVersion": {options.ResourceVersion},
	})
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

// Watch makes the second. Its answer is a stream of JSON objects, one for each event, and ends when
// the server has had enough of it.
func (p *rawPods) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	ctx, cancel := context.WithCancel(ctx)
	body, err := p.get(ctx, url.Values{
		"watch":               {"true"},
		"labelSelector":       {options.LabelSelector},
		"resourceVersion":     {options.ResourceVersion},
		"allowWatchBookmarks": {strconv.FormatBool(options.AllowWatchBookmarks)},
		"timeoutSeconds":      {strconv.FormatInt(*options.TimeoutSeconds, 10)},
	})
	if err != nil {
		cancel()
		return nil, err
	}
	return &rawWatch{events: decodeEvents(ctx, body), cancel: cancel}, nil
}

// get sends the request and returns the body of a good answer. A bad one holds a Status, which has
// a message and a reason.
func (p *rawPods) get(ctx context.Context, query url.Values) (io.ReadCloser, error) {
	address := *p.url
	address.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	fmt.Fprintf(p.out, "> GET %s\n", address.RequestURI())
	response, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(p.out, "< %s %s\n", response.Proto, response.Status)
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	defer response.Body.Close()
	status := metav1.Status{}
	if err := json.NewDecoder(response.Body).Decode(&status); err != nil || status.Kind != "Status" { // a proxy's own answer
		return nil, fmt.Errorf("the server answered %s", response.Status)
	}
	return nil, &apierrors.StatusError{ErrStatus: status}
}
