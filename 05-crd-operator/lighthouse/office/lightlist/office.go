// Package lightlist is the office that keeps the Light List, in which every lighthouse of the world
// has a number. It stands for an API that isn't yours, such as a cloud provider's: it's slow, has
// limits, breaks, and bills.
//
//	POST   /lights          registers {token, position, character}; the client chooses the token
//	GET    /lights/{token}  looks one up; it has its number some seconds later
//	PUT    /lights/{token}  changes {position, character}
//	DELETE /lights/{token}  withdraws it, and uses its token up
//
// What goes wrong is set below /admin/: see faults.go.
package lightlist

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// KeyLife is how long the office recognizes a token, unless its settings say something else. Within
// that, a second POST is answered with the first one's light, and one after a DELETE is refused. Later
// it's a light like any other, and is billed: a client has to look up before it registers.
const KeyLife = 10 * time.Minute

// Fee is what a registration costs.
const Fee = 120

// Light is a row of the Light List.
type Light struct {
	Token     string `json:"token"`
	Position  string `json:"position"`
	Character string `json:"character"`
	Number    string `json:"number,omitempty"` // empty while the office still works on it

	listed time.Time // when it has its number
}

// Entry is a line of the ledger.
type Entry struct {
	Time  time.Time `json:"time"`
	What  string    `json:"what"` // registered, changed or withdrawn
	Token string    `json:"token"`
	Fee   int       `json:"fee"`
}

// Office keeps the list. Its zero value can't be used: see New.
type Office struct {
	http.ServeMux
	clock clock.Clock

	mu       sync.Mutex
	settings Settings
	lights   []Light
	used     map[string]time.Time // when a token was last used to register or to withdraw
	ledger   []Entry
	minute   time.Time // when the minute of the limit began
	calls    int       // since then
}

// New returns an office with these settings.
func New(clock clock.Clock, settings Settings) *Office {
	o := &Office{clock: clock, settings: settings, used: map[string]time.Time{}}
	o.HandleFunc("POST /lights", o.call(o.register))
	o.HandleFunc("GET /lights/{token}", o.call(o.lookUp))
	o.HandleFunc("PUT /lights/{token}", o.call(o.change))
	o.HandleFunc("DELETE /lights/{token}", o.call(o.withdraw))
	o.administer()
	return o
}

// call handles a call, with whatever the fault of the moment does to it.
func (o *Office) call(handle func(token string, sent Light) (int, *Light)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var sent Light
		_ = json.NewDecoder(r.Body).Decode(&sent) // what can't be read is an empty light
		fault := o.disturb(w, r)
		if fault == answered {
			return
		}
		o.mu.Lock()
		code, light := http.StatusUnauthorized, (*Light)(nil)
		if r.Header.Get("Authorization") == "Bearer "+o.settings.Bearer {
			code, light = handle(r.PathValue("token"), sent)
		}
		content := o.render(w, light)
		o.mu.Unlock()
		switch fault {
		case Late:
			<-r.Context().Done()
		case Lose:
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(code)
		_, _ = w.Write(content) // the client may be gone
	}
}

// render encodes a light. Until it has a number, a header says when to look again. Another shows that the answer is the
// office's, also without a light: a proxy in front of it has a 404, too, and perhaps in JSON.
func (o *Office) render(w http.ResponseWriter, light *Light) (content []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Light-List-Edition", "2026")
	if light != nil {
		shown := *light
		if wait := light.listed.Sub(o.clock.Now()); wait > 0 {
			shown.Number = ""
			retryAfter(w, wait)
		}
		content, _ = json.Marshal(shown) // strings can always be encoded
	}
	return content
}

func (o *Office) register(_ string, sent Light) (int, *Light) {
	if sent.Token == "" || sent.Position == "" || sent.Character == "" {
		return http.StatusUnprocessableEntity, nil
	}
	_, light := o.lookUp(sent.Token, sent)
	if last, known := o.used[sent.Token]; known && o.clock.Since(last) < cmp.Or(o.settings.Forgets.Duration, KeyLife) {
		switch {
		case light == nil:
			return http.StatusGone, nil
		case light.Position != sent.Position || light.Character != sent.Character:
			return http.StatusConflict, nil
		}
		return http.StatusOK, light
	}
	o.bill("registered", sent.Token, Fee)
	sent.Number = fmt.Sprintf("A%04d", len(o.ledger))
	sent.listed = o.clock.Now().Add(o.settings.Takes.Duration)
	o.lights, o.used[sent.Token] = append(o.lights, sent), o.clock.Now()
	return http.StatusAccepted, &sent
}

func (o *Office) lookUp(token string, _ Light) (int, *Light) {
	i := slices.IndexFunc(o.lights, func(light Light) bool { return light.Token == token })
	if i < 0 {
		return http.StatusNotFound, nil
	}
	return http.StatusOK, &o.lights[i]
}

func (o *Office) change(token string, sent Light) (int, *Light) {
	code, light := o.lookUp(token, sent)
	if light == nil {
		return code, nil
	}
	light.Position, light.Character = sent.Position, sent.Character
	o.bill("changed", token, 0)
	return code, light
}

// withdraw uses the token up even if there is no such light: a registration may be on its way.
func (o *Office) withdraw(token string, _ Light) (int, *Light) {
	o.used[token] = o.clock.Now()
	if code, light := o.lookUp(token, Light{}); light == nil {
		return code, nil
	}
	o.strike(token)
	o.bill("withdrawn", token, 0)
	return http.StatusNoContent, nil
}

func (o *Office) strike(token string) {
	o.lights = slices.DeleteFunc(o.lights, func(light Light) bool { return light.Token == token })
}

func (o *Office) bill(what, token string, fee int) {
	o.ledger = append(o.ledger, Entry{o.clock.Now(), what, token, fee})
}
