// Package standby keeps an API server running for the tests that come next.
//
// Tests start an API server with envtest: it runs etcd and kube-apiserver in the folder that
// KUBEBUILDER_ASSETS names, which takes seconds. A Standby is such a folder. Its programs are
// stand-ins, which are this program by another name. They ask the Standby for the servers that
// it has started beforehand, and pass connections on to them. Servers are used once, so each
// run of tests finds an empty cluster. If none are there that fit, a stand-in becomes the
// real program.
package standby

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A Standby keeps the servers.
type Standby struct {
	assets   string // the folder of the real programs
	dir      string
	listener net.Listener
	ctx      context.Context // ends all
	cancel   context.CancelFunc
	handlers sync.WaitGroup
	timeout  time.Duration // for the start of servers

	mu     sync.Mutex
	wanted *flags              // what an API server was started with last
	next   *servers            // nobody's yet; they may still be starting
	lent   map[string]*servers // by the URL of etcd that their user knows
}

// New makes a Standby of the programs in a folder. It starts no servers: that is for Prepare.
func New(ctx context.Context, assets string) (s *Standby, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	dir, err := os.MkdirTemp(shortFolder(), "standby-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for API servers: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	s = &Standby{assets: assets, dir: dir, lent: map[string]*servers{}, timeout: time.Minute}
	for name, target := range map[string]string{etcd: self, apiServer: self, "kubectl": filepath.Join(assets, "kubectl")} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("making a folder for API servers: %w", err)
		}
	}
	if s.listener, err = net.Listen("unix", s.socket()); err != nil {
		return nil, fmt.Errorf("waiting for tests that want an API server: %w", err)
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.handlers.Go(s.serve)
	return s, nil
}

// longestFolder leaves room for /standby-1234567890/socket: on macOS the path of a socket has 103 bytes.
const longestFolder = 75

// shortFolder is the one for temporary files, unless its path is too long for a socket in it.
func shortFolder() string {
	if dir := os.TempDir(); len(dir) <= longestFolder {
		return dir
	}
	return "/tmp"
}

func (s *Standby) socket() string { return filepath.Join(s.dir, "socket") }

// Env are the variables by which tests find the Standby.
func (s *Standby) Env() []string {
	return []string{"KUBEBUILDER_ASSETS=" + s.dir, realPrograms + "=" + s.assets, socketPath + "=" + s.socket()}
}

// Close ends all servers.
func (s *Standby) Close() error {
	s.cancel()
	_ = s.listener.Close()
	s.handlers.Wait()
	if s.next != nil {
		s.next.end()
	}
	return os.RemoveAll(s.dir)
}

// Prepare starts servers in the background, if the last run of tests wanted some and none
// are there.
func (s *Standby) Prepare() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wanted == nil || s.next != nil || s.ctx.Err() != nil {
		return
	}
	s.next = s.start(*s.wanted)
}

// Ready waits until the servers that are being started can be used, and says whether there
// are any.
func (s *Standby) Ready() bool {
	s.mu.Lock()
	next := s.next
	s.mu.Unlock()
	return next != nil && next.ready()
}

// serve answers stand-ins until the listener is closed.
func (s *Standby) serve() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.handlers.Go(func() {
			defer context.AfterFunc(s.ctx, func() { _ = conn.Close() })()
			defer conn.Close()
			s.answer(conn)
		})
	}
}

// A request is what a stand-in was started with.
type request struct {
	Program string
	Args    []string
}

// A reply is where the server is that it stands in for, or nothing.
type reply struct {
	Address string
}

// answer lends a server for as long as the stand-in runs.
func (s *Standby) answer(conn net.Conn) {
	var r request
	if json.NewDecoder(conn).Decode(&r) != nil {
		return
	}
	lend := s.lendEtcd
	if r.Program == apiServer {
		lend = s.lendAPIServer
	}
	address, end := lend(r.Args)
	defer end()
	if json.NewEncoder(conn).Encode(reply{address}) == nil && address != "" {
		_, _ = io.Copy(io.Discard, conn)
	}
}

func (s *Standby) lendEtcd(args []string) (address string, end func()) {
	s.mu.Lock()
	servers := s.next
	s.next = nil
	s.mu.Unlock()
	if servers == nil {
		return "", func() {}
	}
	if !servers.ready() {
		return "", servers.end
	}
	url := value(args, "listen-client-urls")
	s.mu.Lock()
	s.lent[url] = servers
	s.mu.Unlock()
	return servers.etcd, func() {
		s.mu.Lock()
		delete(s.lent, url)
		s.mu.Unlock()
		servers.end()
	}
}

func (s *Standby) lendAPIServer(args []string) (address string, end func()) {
	flags, err := read(args)
	if err != nil {
		return "", func() {}
	}
	s.mu.Lock()
	s.wanted = &flags
	servers := s.lent[value(args, "etcd-servers")]
	s.mu.Unlock()
	if servers == nil {
		return "", func() {}
	}
	// Once only: one that is started again, as after a crash, remembers nothing.
	if servers.taken.Swap(true) || !servers.flags.like(flags) || servers.become(s.ctx, flags) != nil {
		servers.endAPIServer()
		return "", func() {}
	}
	return servers.apiServer, servers.endAPIServer
}
