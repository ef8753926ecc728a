// Office serves the Light List: see package lightlist.
package main

import (
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
)

func main() {
	settings := lightlist.Settings{}
	address := flag.String("listen", "127.0.0.1:8080", "the `address` to listen on")
	flag.DurationVar(&settings.Takes.Duration, "takes", 5*time.Second, "how `long` a light waits for its number")
	flag.DurationVar(&settings.Forgets.Duration, "forgets", lightlist.KeyLife, "how `long` it recognizes the token of a light")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q isn't a flag, and all flags after it would be ignored", flag.Arg(0))
	}
	settings.Bearer = os.Getenv("OFFICE_TOKEN")
	if settings.Bearer == "" {
		log.Fatal("OFFICE_TOKEN is empty: set it to the bearer token that clients have to send")
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal("opening the office: ", err)
	}
	log.Println("the office opens on", listener.Addr())
	log.Fatal(http.Serve(listener, logged(lightlist.New(clock.RealClock{}, settings))))
}

// logged logs each call of a client, and how it was answered, if it was.
func logged(office http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{ResponseWriter: w}
		defer func() {
			switch {
			case strings.HasPrefix(r.URL.Path, "/admin/"):
			case a.code == 0 || r.Context().Err() != nil:
				log.Println(r.Method, r.URL.Path, "not answered")
			default:
				log.Println(r.Method, r.URL.Path, a.code)
			}
		}()
		office.ServeHTTP(a, r)
	})
}

// answer remembers the code of an answer.
type answer struct {
	http.ResponseWriter
	code int
}

// WriteHeader sends the code.
func (a *answer) WriteHeader(code int) {
	a.code = code
	a.ResponseWriter.WriteHeader(code)
}
