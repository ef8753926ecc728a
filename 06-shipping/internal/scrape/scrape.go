// Package scrape asks programs for their metrics. It is for tests and for load.
package scrape

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
)

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

// FreeAddress is one that no other program listens on, for a program to serve at. A port of 127.0.0.1 that is
// let go may be another's a moment later. On Linux all of 127.0.0.0/8 is this machine, and nobody else asks for
// a random address of it.
func FreeAddress(ctx context.Context) (string, error) {
	host := "127.0.0.1"
	if runtime.GOOS == "linux" {
		host = fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), 1+rand.IntN(254), 1+rand.IntN(254))
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", host+":0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
