package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// callTimeout is how long a call may take.
const callTimeout = 3 * time.Second

// booking is what the desk says, and is told.
type booking struct {
	Number    string `json:"number,omitempty"`
	Berth     string `json:"berth,omitempty"`
	Reference string `json:"reference"`
	Ship      string `json:"ship"`
	Metres    int    `json:"metres"`
}

// errNoAnswer is a call without an answer, or with one that isn't understood.
var errNoAnswer = errors.New("no answer")

// refusal is an answer that isn't a booking.
type refusal struct {
	code   int
	reason string // what the desk says
}

func (r *refusal) Error() string { return fmt.Sprintf("the desk answers %d: %s", r.code, r.reason) }

// busy is an error: no call may be made for so long.
type busy time.Duration

func (b busy) Error() string { return "the desk is busy" }

// desk makes calls to the harbour desk. Its limit is one for all Moorings, so there is one desk.
type desk struct {
	url       string
	tokenFile string
	client    *http.Client

	mu    sync.Mutex
	opens time.Time // no call before
}

func newDesk(url, tokenFile string) *desk {
	return &desk{url: url, tokenFile: tokenFile, client: &http.Client{Timeout: callTimeout}}
}

func (d *desk) find(ctx context.Context, reference string) (found []booking, err error) {
	return found, d.call(ctx, http.MethodGet, "/bookings?reference="+url.QueryEscape(reference), nil, &found)
}

func (d *desk) book(ctx context.Context, want booking) (got booking, err error) {
	return got, d.call(ctx, http.MethodPost, "/bookings", want, &got)
}

func (d *desk) change(ctx context.Context, number string, want booking) (got booking, err error) {
	return got, d.call(ctx, http.MethodPut, "/bookings/"+number, want, &got)
}

func (d *desk) cancel(ctx context.Context, number string) error {
	return d.call(ctx, http.MethodDelete, "/bookings/"+number, nil, nil)
}

// call makes a call, unless the desk has said that it takes none yet.
func (d *desk) call(ctx context.Context, method, path string, send, receive any) error {
	if wait := d.wait(); wait > 0 {
		return busy(wait)
	}
	body, err := json.Marshal(send)
	if err != nil {
		return err
	}
	// Each time, since the file may have changed.
	token, err := os.ReadFile(d.tokenFile)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, d.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	request.GetBody = nil // or Go would send it twice if a connection breaks
	response, err := d.client.Do(request)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusTooManyRequests:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 if there is none
		return d.pause(time.Duration(min(max(seconds, 1), 3600)) * time.Second)
	case response.StatusCode/100 != 2:
		var answer struct{ Error string }
		_ = json.NewDecoder(response.Body).Decode(&answer) // what can't be read stays empty
		return &refusal{response.StatusCode, answer.Error}
	case receive != nil:
		if err := json.NewDecoder(response.Body).Decode(receive); err != nil {
			return fmt.Errorf("%w: %w", errNoAnswer, err)
		}
	}
	return nil
}

// wait returns for how long no call may be made.
func (d *desk) wait() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Until(d.opens)
}

func (d *desk) pause(wait time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opens = time.Now().Add(wait)
	return busy(wait)
}
