// Office serves the Light List: see package lightlist.
package main

import (
	"flag"
	"log"
	"net/http"
	"os"
	"time"

	"k8s.io/utils/clock"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
)

func main() {
	settings := lightlist.Settings{}
	address := flag.String("listen", ":8080", "the `address` to listen on")
	flag.DurationVar(&settings.Takes.Duration, "takes", 5*time.Second, "how `long` a light waits for its number")
	flag.Parse()
	settings.Bearer = os.Getenv("OFFICE_TOKEN")
	if settings.Bearer == "" {
		log.Fatal("OFFICE_TOKEN is empty: set it to the bearer token that clients have to send")
	}
	log.Println("the office opens on", *address)
	log.Fatal(http.ListenAndServe(*address, lightlist.New(clock.RealClock{}, settings)))
}
