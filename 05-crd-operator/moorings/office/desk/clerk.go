package desk

import (
	"slices"
	"time"
)

// Rotate replaces the token that clients have to send.
func (d *Desk) Rotate(token string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.token = token
}

// Overload makes the next call one too many. After it the desk is closed for so long.
func (d *Desk) Overload(pause time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pause = pause
	d.began, d.calls = d.clock.Now().Add(time.Hour), Limit // the window lasts until it comes
}

// TooEarly returns how many calls came, at most, while the desk had said that it takes none.
func (d *Desk) TooEarly() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.most
}

// Book adds a booking as a clerk would, for somebody on the telephone.
func (d *Desk) Book(b Booking) Booking {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.add(b)
}

// Edit changes the metres of all bookings with a reference, as a clerk would, of whom no client hears. 0 cancels them.
func (d *Desk) Edit(reference string, metres int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range d.withReference(reference) {
		if metres == 0 {
			d.strike(b.Number)
		} else {
			d.lookUp(b.Number).Metres = metres
		}
	}
}

// Bookings returns those with a reference.
func (d *Desk) Bookings(reference string) []Booking {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.withReference(reference)
}

// Ledger returns what clients have done with a reference, in order.
func (d *Desk) Ledger(reference string) (done []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, entry := range d.ledger {
		if entry.reference == reference {
			done = append(done, entry.what)
		}
	}
	return done
}

// References returns all references for which clients have booked, each once.
func (d *Desk) References() (references []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, entry := range d.ledger {
		references = append(references, entry.reference)
	}
	slices.Sort(references)
	return slices.Compact(references)
}
