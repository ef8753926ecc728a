// Package desk is the harbour desk, where a ship books a berth. It stands for an API that isn't yours, of another
// kind than the Light List: the desk chooses the number of a booking, and each POST is one more, and billed.
//
//	GET    /bookings?reference=R  lists the bookings with a reference, which the client has chosen
//	POST   /bookings              books a berth for {reference, ship, metres}
//	PUT    /bookings/{number}     changes {metres}; the berth may be another one afterwards
//	DELETE /bookings/{number}     cancels it
//
// What else goes wrong with a call, a test puts in front of the desk.
package desk

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	// LongestBerth has this many metres.
	LongestBerth = 300
	// Limit is how many calls the desk takes in a Window. After one more it takes none for as long.
	Limit = 20
	// Window is how long calls are counted, and how long the desk is closed afterwards.
	Window = 2 * time.Second
)

// Booking is a berth for a ship.
type Booking struct {
	Number    string `json:"number"`
	Berth     string `json:"berth"`
	Reference string `json:"reference"`
	Ship      string `json:"ship"`
	Metres    int    `json:"metres"`
}

// entry is a line of the ledger: what a client has done.
type entry struct{ reference, what string }

// Desk keeps the bookings. Its zero value can't be used: see New.
type Desk struct {
	http.ServeMux
	clock clock.PassiveClock

	mu       sync.Mutex
	token    string
	numbers  int // that were given out
	bookings []Booking
	ledger   []entry

	pause  time.Duration // how long it will be closed the next time; 0 is a Window
	began  time.Time     // when the window began
	calls  int           // in the window
	closed time.Time     // until when no call is taken
	early  int           // calls that came before, although the client was told
	most   int           // of them, whenever the desk was closed
}

// New returns a desk whose clients have to send this token.
func New(clock clock.PassiveClock, token string) *Desk {
	d := &Desk{clock: clock, token: token}
	d.HandleFunc("GET /bookings", d.call(d.find))
	d.HandleFunc("POST /bookings", d.call(d.book))
	d.HandleFunc("PUT /bookings/{number}", d.call(d.change))
	d.HandleFunc("DELETE /bookings/{number}", d.call(d.cancel))
	return d
}

// call handles one call at a time: once it's answered, it's in the books.
func (d *Desk) call(handle func(*http.Request, Booking) (int, any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var sent Booking
		_ = json.NewDecoder(r.Body).Decode(&sent) // what can't be read is an empty booking
		d.mu.Lock()
		defer d.mu.Unlock()
		code, answer := http.StatusUnauthorized, problem("who are you?")
		switch {
		case r.Header.Get("Authorization") != "Bearer "+d.token:
		case !d.admit():
			w.Header().Set("Retry-After", fmt.Sprint(math.Ceil(d.closed.Sub(d.clock.Now()).Seconds())))
			code, answer = http.StatusTooManyRequests, problem("the desk is busy")
		default:
			code, answer = handle(r, sent)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		if answer != nil {
			_ = json.NewEncoder(w).Encode(answer) // the client may be gone
		}
	}
}

// problem is what the desk says when it refuses.
func problem(text string) any { return map[string]string{"error": text} }

// admit reports whether the desk takes a call.
func (d *Desk) admit() bool {
	now := d.clock.Now()
	if now.Before(d.closed) {
		d.early++
		d.most = max(d.most, d.early)
		return false
	}
	if now.Sub(d.began) >= Window {
		d.began, d.calls = now, 0
	}
	if d.calls++; d.calls <= Limit {
		return true
	}
	d.began, d.closed, d.early = time.Time{}, now.Add(cmp.Or(d.pause, Window)), 0
	d.pause = 0
	return false
}

func (d *Desk) find(r *http.Request, _ Booking) (int, any) {
	return http.StatusOK, d.withReference(r.FormValue("reference"))
}

func (d *Desk) withReference(reference string) []Booking {
	found := []Booking{} // no null in JSON
	for _, booking := range d.bookings {
		if booking.Reference == reference {
			found = append(found, booking)
		}
	}
	return found
}

func (d *Desk) book(_ *http.Request, sent Booking) (int, any) {
	if sent.Reference == "" || sent.Ship == "" {
		return http.StatusUnprocessableEntity, problem("a booking needs a reference and a ship")
	}
	if refusal := measure(sent.Metres); refusal != nil {
		return http.StatusUnprocessableEntity, refusal
	}
	d.ledger = append(d.ledger, entry{sent.Reference, "booked"})
	return http.StatusCreated, d.add(sent)
}

func (d *Desk) add(b Booking) Booking {
	d.numbers++
	b.Number = fmt.Sprintf("B%04d", d.numbers)
	b.Berth = berth(b)
	d.bookings = append(d.bookings, b)
	return b
}

// berth is where it is: long ships are in another part of the harbour.
func berth(b Booking) string { return fmt.Sprintf("%c-%s", 'N'+(b.Metres-1)/100, b.Number[1:]) }

func measure(metres int) (refusal any) {
	switch {
	case metres < 1:
		return problem("a ship has a length in metres")
	case metres > LongestBerth:
		return problem(fmt.Sprintf("the longest berth has %d metres", LongestBerth))
	}
	return nil
}

func (d *Desk) change(r *http.Request, sent Booking) (int, any) {
	b := d.lookUp(r.PathValue("number"))
	if b == nil {
		return http.StatusNotFound, problem("there is no such booking")
	}
	if refusal := measure(sent.Metres); refusal != nil {
		return http.StatusUnprocessableEntity, refusal
	}
	b.Metres = sent.Metres
	b.Berth = berth(*b)
	d.ledger = append(d.ledger, entry{b.Reference, "changed"})
	return http.StatusOK, *b
}

func (d *Desk) cancel(r *http.Request, _ Booking) (int, any) {
	b := d.lookUp(r.PathValue("number"))
	if b == nil {
		return http.StatusNotFound, problem("there is no such booking")
	}
	d.ledger = append(d.ledger, entry{b.Reference, "cancelled"})
	d.strike(b.Number)
	return http.StatusNoContent, nil
}

func (d *Desk) lookUp(number string) *Booking {
	i := slices.IndexFunc(d.bookings, func(b Booking) bool { return b.Number == number })
	if i < 0 {
		return nil
	}
	return &d.bookings[i]
}

func (d *Desk) strike(number string) {
	d.bookings = slices.DeleteFunc(d.bookings, func(b Booking) bool { return b.Number == number })
}
