package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Options say where the registry listens, and where it keeps blobs.
type Options struct {
	Address string // a loopback address; port 0 is any that is free
	Blobs   string // a folder; without it, blobs are kept in memory
}

// Run serves until ctx ends. It prints the address when it listens.
func Run(ctx context.Context, o Options, out io.Writer) error {
	if err := checkLoopback(o.Address); err != nil {
		return err
	}
	handler, err := newHandler(o.Blobs)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.Address)
	if err != nil {
		return fmt.Errorf("%w; choose another address with --address", err)
	}
	fmt.Fprintf(out, "the registry listens on %s\n", listener.Addr())
	return serve(ctx, listener, handler)
}

// checkLoopback refuses an address that other machines reach: anybody could push.
func checkLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--address %q is no address; write one such as 127.0.0.1:5050", address)
	}
	if !isLoopback(host) {
		return fmt.Errorf("--address %q can be reached from other machines, and this registry has no users; choose one such as 127.0.0.1:5050", address)
	}
	return nil
}

func isLoopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// onlyLoopback keeps out the pages in a browser of this machine. One can have a name of
// its own lead to loopback (DNS rebinding): then Host is that name. One that asks for
// 127.0.0.1 itself is of another origin, which the browser says.
func onlyLoopback(next http.Handler) http.Handler {
	sameOrigin := http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host := (&url.URL{Host: r.Host}).Hostname(); !isLoopback(host) {
			http.Error(w, fmt.Sprintf("this registry is not %q; ask for it as 127.0.0.1 or localhost", r.Host), http.StatusMisdirectedRequest)
			return
		}
		sameOrigin.ServeHTTP(w, r)
	})
}

func newHandler(blobs string) (http.Handler, error) {
	options := []registry.Option{registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0))}
	if blobs != "" {
		if err := os.MkdirAll(blobs, 0o777); err != nil {
			return nil, fmt.Errorf("making the folder of the blobs: %w; choose another with --blobs", err)
		}
		options = append(options, registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs)))
	}
	return onlyLoopback(registry.New(options...)), nil
}

// shutdownTimeout is how long requests have to finish.
const shutdownTimeout = 5 * time.Second

func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err := server.Shutdown(deadline)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close() // a client that is cut off pushes again
	}
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}
