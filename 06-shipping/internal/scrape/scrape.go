// Package scrape asks for metrics as a Prometheus does whose operator has read a
// ServiceMonitor. It is for tests and for load.
package scrape

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/transport"
)

// endpoint is all that a ServiceMonitor of ours says. Prometheus's own token, or any
// other file of it, is not among that; nor is to trust any server that answers.
type endpoint struct {
	Port          string `json:"port"`
	Scheme        string `json:"scheme"`
	Authorization struct {
		Credentials secretKey `json:"credentials"`
	} `json:"authorization"`
	TLSConfig struct {
		ServerName string `json:"serverName"`
		CA         struct {
			Secret secretKey `json:"secret"`
		} `json:"ca"`
	} `json:"tlsConfig"`
}

type secretKey struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// Client returns the client with which a Prometheus asks the endpoint. What it
// needs of Secrets, it gets from the function, by name and key. A field of the
// endpoint that ours do not have is an error.
func Client(serviceMonitor *unstructured.Unstructured, secret func(name, key string) string) (*http.Client, error) {
	endpoints, _, err := unstructured.NestedSlice(serviceMonitor.Object, "spec", "endpoints")
	if err != nil {
		return nil, fmt.Errorf("reading the endpoints: %w", err)
	}
	if len(endpoints) != 1 {
		return nil, fmt.Errorf("the ServiceMonitor has %d endpoints, and ours has one", len(endpoints))
	}
	var e endpoint
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(endpoints[0].(map[string]any), &e, true); err != nil {
		return nil, fmt.Errorf("reading the endpoint: %w", err)
	}
	token := secret(e.Authorization.Credentials.Name, e.Authorization.Credentials.Key)
	if token == "" {
		return nil, fmt.Errorf("there is no token: %+v", e.Authorization)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(secret(e.TLSConfig.CA.Secret.Name, e.TLSConfig.CA.Secret.Key))) {
		return nil, fmt.Errorf("there is no certificate of a CA: %+v", e.TLSConfig)
	}
	return &http.Client{Transport: transport.NewBearerAuthRoundTripper(token, &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots, ServerName: e.TLSConfig.ServerName, MinVersion: tls.VersionTLS12},
		DisableKeepAlives: true,
	})}, nil
}

// Get asks as curl --insecure does, with a token if there is one. Each request has a connection of its own. It
// returns the status code and the body.
func Get(ctx context.Context, url, token string) (code int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	insecure := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // made at the start, and signed by nobody
		DisableKeepAlives: true,
	}}
	response, err := insecure.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}
