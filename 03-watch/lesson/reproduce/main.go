// Reproduce shows what an exercise is about: it runs `watch` against a server that behaves as
// in its story, and prints the requests, too. It ends with the last request of the story, or if that
// does not come.
package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// api answers the requests of one client.
type api struct {
	list  func(version string) string // the answer to a LIST with this resourceVersion
	watch func(w http.ResponseWriter, r *http.Request, version string)
	last  int // the number of the last request
}

// stallTimeout is how long the last request may take: much longer than it does while the program is
// broken, and too short for one that pauses longer each time.
const stallTimeout = 20 * time.Second

var exercises = map[string]api{
	// Each watch ends after a second, in which nothing happens.
	"closed-channel": {
		list: func(string) string { return pods(7, "bell") },
		watch: func(w http.ResponseWriter, r *http.Request, _ string) {
			open(w, r, time.Second)
		},
		last: 6,
	},
	// Each watch is opened, and closed at once.
	"impatient": {
		list:  func(string) string { return pods(7, "bell") },
		watch: func(http.ResponseWriter, *http.Request, string) {},
		last:  10,
	},
	// The present is version 53412, and what was before 53000 is forgotten.
	"lost-410": {
		list: first(pods(970, "bell"), pods(53412, "bell", "buoy")),
		watch: func(w http.ResponseWriter, r *http.Request, version string) {
			if version != "970" {
				open(w, r, time.Minute)
				return
			}
			w.WriteHeader(http.StatusGone)
			fmt.Fprint(w, expired(53412))
		},
		last: 5,
	},
	// The pod has been deleted. The API server that answers now has not heard of it, unless
	// it is asked for the newest state.
	"back-in-time": {
		list: func() func(string) string {
			newest := first(pods(960, "ledger-0"), pods(987))
			return func(version string) string {
				state := newest(version)
				if version == "0" {
					return pods(960, "ledger-0")
				}
				return state
			}
		}(),
		watch: func() func(http.ResponseWriter, *http.Request, string) {
			events := first(fmt.Sprintf(`{"type":"DELETED","object":%s} {"type":"ERROR","object":%s}`, pod(970, "ledger-0"), expired(987)), "")
			return func(w http.ResponseWriter, r *http.Request, version string) {
				fmt.Fprint(w, events(version))
				open(w, r, time.Minute)
			}
		}(),
		last: 4,
	},
}

// expired is the Status with the code 410, for a client that knows version 970.
func expired(oldest int) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too old resource version: 970 (%d)","reason":"Expired","code":410}`, oldest)
}

func main() {
	exercise, found := exercises[strings.Join(os.Args[1:], " ")]
	if !found {
		fmt.Fprintln(os.Stderr, "error: name one of the exercises of stage 3, such as impatient")
		os.Exit(1)
	}
	if err := run(exercise); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run builds the program, and runs it.
func run(exercise api) error {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "watch")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building the program: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), stallTimeout)
	defer cancel()
	server := httptest.NewServer(exercise.handler(cancel))
	defer server.CloseClientConnections()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, fmt.Appendf(nil, `{"clusters":[{"name":"fake","cluster":{"server":%q}}],"contexts":[{"name":"fake","context":{"cluster":"fake"}}],"current-context":"fake"}`, server.URL), 0o600); err != nil {
		return err
	}
	watch := exec.CommandContext(ctx, program)
	watch.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	watch.Stdout, watch.Stderr = os.Stdout, os.Stdout
	if err := watch.Run(); ctx.Err() == nil {
		return err
	}
	return nil
}

// handler prints each request, and answers it. The last one it leaves unanswered, and calls end.
func (a api) handler(end func()) http.Handler {
	requests := 0 // the client sends one after the other
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		query, version := r.URL.Query(), r.URL.Query().Get("resourceVersion")
		fmt.Println(">", request(query))
		requests++
		switch {
		case requests == a.last:
			end()
			<-r.Context().Done()
		case query.Has("watch"):
			a.watch(w, r, version)
		default:
			fmt.Fprint(w, a.list(version))
		}
	})
}

func request(query url.Values) string {
	version := query.Get("resourceVersion")
	if query.Has("watch") {
		return "WATCH from version " + version
	}
	return "LIST of version " + cmp.Or(version, "(none)")
}

// open keeps a watch open, for so long or until the client has gone.
func open(w http.ResponseWriter, r *http.Request, d time.Duration) {
	_ = http.NewResponseController(w).Flush()
	select {
	case <-time.After(d):
	case <-r.Context().Done():
	}
}

// first returns one answer, and then always the other.
func first(one, other string) func(string) string {
	return func(string) string {
		answer := one
		one = other
		return answer
	}
}

func pods(version int, names ...string) string {
	var items []string
	for _, name := range names {
		items = append(items, pod(version, name))
	}
	return fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[%s]}`, version, strings.Join(items, ","))
}

func pod(version int, name string) string {
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"bank","name":%q,"uid":%q,"resourceVersion":"%d"}}`, name, name, version)
}
