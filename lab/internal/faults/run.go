package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/rpc"
	"net/url"
	"os"
	"sync"
)

// Options are those of [Run].
type Options struct {
	Address string   // where programs reach the proxy
	Server  *url.URL // the API server
	Socket  string   // where the commands of the lab reach it, see [Dial]
	Credentials
	Requests io.Writer // gets a line for each request
}

// Run serves until ctx ends, and with it all faults.
func Run(ctx context.Context, o Options) error {
	if err := o.load(); err != nil {
		return err
	}
	faults := newSet()
	d := &door{address: o.Address, handler: newProxy(faults, o.Server, o.transport(), o.Requests), credentials: &o.Credentials}
	if err := d.open(); err != nil {
		return err
	}
	defer d.close()
	_ = os.Remove(o.Socket) // of a lab that was killed
	socket, err := net.Listen("unix", o.Socket)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = socket.Close() })()
	commands := rpc.NewServer()
	if err := commands.RegisterName(service, &Control{faults: faults, door: d}); err != nil {
		return err
	}
	var all sync.WaitGroup
	defer all.Wait()
	for {
		connection, err := socket.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		all.Go(func() {
			defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
			commands.ServeConn(connection)
		})
	}
}

// door is the port that programs connect to. While it is closed, connections are refused.
type door struct {
	address     string
	handler     http.Handler
	credentials *Credentials

	mu     sync.Mutex
	server *http.Server // nil while it is closed
	serves sync.WaitGroup
}

// open does nothing if it is open.
func (d *door) open() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil {
		return nil
	}
	listener, err := net.Listen("tcp4", d.address)
	if err != nil {
		return fmt.Errorf("listening for programs of lab run: %w", err)
	}
	server := &http.Server{Handler: d.handler, TLSConfig: d.credentials.serving(), ErrorLog: log.New(io.Discard, "", 0)}
	d.serves.Go(func() { _ = server.ServeTLS(listener, "", "") })
	d.server = server
	return nil
}

// close ends all connections.
func (d *door) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server == nil {
		return
	}
	_ = d.server.Close()
	d.serves.Wait()
	d.server = nil
}
