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
	faults := newSet()
	d, err := openDoor(o, faults)
	if err != nil {
		return err
	}
	defer d.close()
	return takeCommands(ctx, o.Socket, &Control{faults: faults, door: d})
}

// takeCommands serves at a socket until ctx ends.
func takeCommands(ctx context.Context, name string, control *Control) error {
	_ = os.Remove(name) // of a lab that was killed
	socket, err := net.Listen("unix", name)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = socket.Close() })()
	commands := rpc.NewServer()
	if err := commands.RegisterName(service, control); err != nil {
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
	address     string // that of the listener, once it was open
	handler     http.Handler
	credentials *Credentials

	mu     sync.Mutex
	server *http.Server // nil while it is closed
	serves sync.WaitGroup
}

func openDoor(o Options, faults *set) (*door, error) {
	if err := o.load(); err != nil {
		return nil, err
	}
	d := &door{address: o.Address, handler: newProxy(faults, o.Server, o.transport(), o.Requests), credentials: &o.Credentials}
	return d, d.open()
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
	d.server, d.address = server, listener.Addr().String()
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
