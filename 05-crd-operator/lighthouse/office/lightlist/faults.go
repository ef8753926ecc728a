package lightlist

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fault is what happens to a call.
type Fault string

// The faults. A call that is lost or late has done its work.
const (
	TooMany Fault = "429"  // with Retry-After
	Broken  Fault = "500"  // nothing was done
	Drop    Fault = "drop" // nothing was done, and the connection breaks
	Hang    Fault = "hang" // nothing was done, and no answer comes
	Lose    Fault = "lose" // it's done, and the connection breaks
	Late    Fault = "late" // it's done, and no answer comes

	answered Fault = "answered" // nothing is left to do
)

// Settings are what a lesson or a test changes in the office, while it works.
type Settings struct {
	Bearer  string          `json:"bearer"`  // the token that clients have to send
	Takes   metav1.Duration `json:"takes"`   // from a registration to its number
	Forgets metav1.Duration `json:"forgets"` // how long it recognizes a token; 0 is KeyLife
	Latency metav1.Duration `json:"latency"` // of each call
	Limit   int             `json:"limit"`   // calls per minute; 0 is any number
	Down    bool            `json:"down"`    // all connections break
	Next    []Fault         `json:"next"`    // what happens to the next calls, one after the other
}

// Set changes the settings.
func (o *Office) Set(change func(*Settings)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(&o.settings)
}

// Edit changes a light as a clerk would, of whom no client hears. One without a position is struck off.
func (o *Office) Edit(token, position, character string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, light := o.lookUp(token, Light{}); light != nil {
		light.Position, light.Character = position, character
	}
	if position == "" {
		o.strike(token)
		delete(o.used, token)
	}
}

// Books returns the list, with numbers that aren't given out yet, and what was done and billed.
func (o *Office) Books() (lights []Light, ledger []Entry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.lights), slices.Clone(o.ledger)
}

// administer adds what a lesson does to the office. It takes no bearer token.
//
//	PUT /admin/settings {"down": true}; what isn't sent stays as it is
//	PUT /admin/lights/{token}?position=...&character=...
//	GET /admin/books
func (o *Office) administer() {
	o.HandleFunc("PUT /admin/settings", func(w http.ResponseWriter, r *http.Request) {
		var err error
		o.Set(func(settings *Settings) {
			read := *settings
			read.Next = slices.Clone(read.Next) // Decode would write into it
			if err = json.NewDecoder(r.Body).Decode(&read); err == nil {
				*settings = read
			}
		})
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
	o.HandleFunc("PUT /admin/lights/{token}", func(_ http.ResponseWriter, r *http.Request) {
		o.Edit(r.PathValue("token"), r.FormValue("position"), r.FormValue("character"))
	})
	o.HandleFunc("GET /admin/books", func(w http.ResponseWriter, _ *http.Request) {
		lights, ledger := o.Books()
		_ = json.NewEncoder(w).Encode(map[string]any{"lights": lights, "ledger": ledger})
	})
}

// disturb does what the fault of a call does before it is handled.
func (o *Office) disturb(w http.ResponseWriter, r *http.Request) Fault {
	fault, latency, wait := o.fault()
	o.clock.Sleep(latency)
	switch fault {
	case TooMany:
		retryAfter(w, wait)
		w.WriteHeader(http.StatusTooManyRequests)
	case Broken:
		w.WriteHeader(http.StatusInternalServerError)
	case Hang:
		<-r.Context().Done()
	case Drop:
		panic(http.ErrAbortHandler)
	default:
		return fault
	}
	return answered
}

// fault returns what happens to the next call, how long it takes, and when to come back after 429.
func (o *Office) fault() (fault Fault, latency, wait time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.clock.Since(o.minute) >= time.Minute {
		o.minute, o.calls = o.clock.Now(), 0
	}
	o.calls++
	switch s := &o.settings; {
	case s.Down:
		fault = Drop
	case s.Limit > 0 && o.calls > s.Limit:
		fault, wait = TooMany, time.Minute-o.clock.Since(o.minute)
	case len(s.Next) > 0:
		fault, s.Next, wait = s.Next[0], s.Next[1:], 7*time.Second
	}
	return fault, o.settings.Latency.Duration, wait
}

func retryAfter(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", fmt.Sprint(math.Ceil(wait.Seconds())))
}
