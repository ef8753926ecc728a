// Reproduce shows what the exercise twice is about: it runs client-list against a server that
// has forgotten the version of the list when its third page is requested, as happens to a client
// that is slow.
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run runs client-list, and prints its requests.
func run() error {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	forgotten := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		token := r.URL.Query().Get("continue")
		fmt.Printf("> GET %s?continue=%s\n", r.URL.Path, token)
		switch {
		case token == "":
			page(w, "then-c", "a", "b")
		case token == "then-c":
			page(w, "then-e", "c", "d")
		case token == "then-e" && !forgotten:
			forgotten = true
			w.WriteHeader(http.StatusGone)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","metadata":{"continue":"then-e-as-it-is-now"},"status":"Failure","message":"The provided continue parameter is too old","reason":"Expired","code":410}`)
		default:
			page(w, "", "e")
		}
	}))
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, fmt.Appendf(nil, `{"clusters":[{"name":"fake","cluster":{"server":%q}}],"contexts":[{"name":"fake","context":{"cluster":"fake"}}],"current-context":"fake"}`, server.URL), 0o600); err != nil {
		return err
	}
	list := exec.Command("go", "run", ".", "--kubeconfig", kubeconfig)
	list.Stdout, list.Stderr = os.Stdout, os.Stdout
	return list.Run()
}

// page answers with some names, and the token of the next page.
func page(w http.ResponseWriter, token string, names ...string) {
	var items []string
	for _, name := range names {
		items = append(items, fmt.Sprintf(`{"metadata":{"name":%q}}`, name))
	}
	fmt.Fprintf(w, `{"kind":"NamespaceList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":%q},"items":[%s]}`, token, strings.Join(items, ","))
}
