// Office serves the harbour desk, for an operator that runs by hand: see package desk.
package main

import (
	"flag"
	"log"
	"net/http"
	"os"
	"time"

	"k8s.io/utils/clock"

	"example.com/hacking-a-controller/05-crd-operator/moorings/office/desk"
)

func main() {
	address := flag.String("listen", "127.0.0.1:8040", "the `address` to listen on")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q isn't a flag, and all flags after it would be ignored", flag.Arg(0))
	}
	token := os.Getenv("DESK_TOKEN")
	if token == "" {
		log.Fatal("DESK_TOKEN is empty: set it to the token that clients have to send")
	}
	log.Println("the desk opens on", *address)
	server := &http.Server{Addr: *address, Handler: desk.New(clock.RealClock{}, token), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}
