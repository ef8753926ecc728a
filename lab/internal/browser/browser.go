// Package browser keeps pages in a browser away from what the lab serves over HTTP.
package browser

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// KeepOut answers only requests whose Host is loopback. A page in a browser of this machine can
// have a name of its own lead here (DNS rebinding), and Host is then still that name.
func KeepOut(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := (&url.URL{Host: r.Host}).Hostname()
		if !strings.EqualFold(host, "localhost") && !net.ParseIP(host).IsLoopback() {
			http.Error(w, fmt.Sprintf("this is not %q; ask for it as 127.0.0.1", r.Host), http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}
