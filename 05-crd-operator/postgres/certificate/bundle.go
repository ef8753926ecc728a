package certificate

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"time"
)

// These are the times of a renewal.
const (
	// renewAfter is when the next CA is made. What is left of the last one is for an operator
	// that is down.
	renewAfter = Lifetime * 2 / 3
	// announced is how long a CA is in the bundle before its certificate is valid. A kubelet
	// hands a new bundle to pods within two minutes.
	announced = time.Hour
	// clocksDiffer is by how much the clocks of machines may, before it makes a difference.
	clocksDiffer = time.Hour
)

// Bundle is the CAs of an owner, the oldest first: of each slot, the one that was made last. No clock
// takes one away, for clocks may be wrong; a client accepts none that has expired.
type Bundle struct {
	owner string
	cas   []*x509.Certificate
}

// Read reads a bundle. What the owner has not made is not in it.
func Read(content []byte, owner string) Bundle {
	all := slices.DeleteFunc(parse(content), func(ca *x509.Certificate) bool {
		return !slices.Equal(ca.Subject.Organization, []string{owner})
	})
	slices.SortStableFunc(all, func(x, y *x509.Certificate) int { return x.SerialNumber.Cmp(y.SerialNumber) })
	return Bundle{owner, slices.DeleteFunc(slices.Clone(all), func(ca *x509.Certificate) bool {
		return slices.ContainsFunc(all, func(other *x509.Certificate) bool { return number(other) > number(ca) && slot(other) == slot(ca) })
	})}
}

// parse returns the certificates in a PEM file. What is none is left out.
func parse(content []byte) (list []*x509.Certificate) {
	for {
		var block *pem.Block
		if block, content = pem.Decode(content); block == nil {
			return list
		}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == certificateBlock {
			list = append(list, c)
		}
	}
}

// PEM is the content of the file that clients have.
func (b Bundle) PEM() []byte {
	var content bytes.Buffer
	for _, ca := range b.cas {
		content.Write(encode(certificateBlock, ca.Raw))
	}
	return content.Bytes()
}

func number(ca *x509.Certificate) int64 { return ca.SerialNumber.Int64() }

// slot is where the certificate of a CA goes: to 1 and 2 in turn.
func slot(ca *x509.Certificate) int { return slotOf(number(ca)) }

func slotOf(number int64) int { return 2 - int(number%2) }

// current is the CA whose certificate members serve now, or will in a moment, or nil. One that
// begins later was made by a clock that was ahead, and nobody serves it until then.
func (b Bundle) current(now time.Time) (current *x509.Certificate) {
	for _, ca := range b.cas {
		early := ca.NotBefore.After(now.Add(announced + clocksDiffer))
		if !early && (current == nil || !ca.NotBefore.Before(current.NotBefore)) {
			current = ca
		}
	}
	return current
}

// Due reports whether the next CA has to be made.
func (b Bundle) Due(now time.Time) bool {
	current := b.current(now)
	return current == nil || !now.Before(current.NotBefore.Add(renewAfter))
}

// next is the number of the next CA. Numbers never go back, and one is left out if its slot has the
// certificate that members serve.
func (b Bundle) next(now time.Time) int64 {
	next := int64(1)
	if len(b.cas) > 0 {
		next = number(b.cas[len(b.cas)-1]) + 1
	}
	if current := b.current(now); current != nil && slot(current) == slotOf(next) {
		next++
	}
	return next
}

// Slot is where the next certificate goes. The one that is there has expired, or is not valid yet.
func (b Bundle) Slot(now time.Time) int { return slotOf(b.next(now)) }

// Issue makes the next CA, and has it sign a certificate for a server with these names. It is
// valid in an hour, if there is another one until then.
func (b Bundle) Issue(names []string, now time.Time) (Issued, error) {
	from := now.Add(announced)
	if current := b.current(now); current == nil || current.NotAfter.Before(from) {
		from = now.Add(-clocksDiffer)
	}
	return issue(b.owner, b.next(now), names, from)
}
