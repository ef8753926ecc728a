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
)

// Bundle is the CAs of an owner that have not expired, the oldest first.
type Bundle struct {
	owner string
	cas   []*x509.Certificate
}

// Read reads a bundle. What the owner has not made is not in it.
func Read(content []byte, owner string, now time.Time) Bundle {
	b := Bundle{owner: owner}
	for _, ca := range parse(content) {
		if slices.Equal(ca.Subject.Organization, []string{owner}) && now.Before(ca.NotAfter) {
			b.cas = append(b.cas, ca)
		}
	}
	slices.SortStableFunc(b.cas, func(x, y *x509.Certificate) int { return x.SerialNumber.Cmp(y.SerialNumber) })
	return b
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

// last is the newest CA, or nil.
func (b Bundle) last() *x509.Certificate {
	if len(b.cas) == 0 {
		return nil
	}
	return b.cas[len(b.cas)-1]
}

// Due reports whether the next CA has to be made.
func (b Bundle) Due(now time.Time) bool {
	last := b.last()
	return last == nil || !now.Before(last.NotBefore.Add(renewAfter))
}

// number is that of the next CA.
func (b Bundle) number() int64 {
	if last := b.last(); last != nil {
		return last.SerialNumber.Int64() + 1
	}
	return 1
}

// Slot is where the next certificate goes: to 1 and 2 in turn. The one that is there has expired,
// or was never valid.
func (b Bundle) Slot() int { return 2 - int(b.number()%2) }

// Issue makes the next CA, and has it sign a certificate for a server with these names. It is
// valid in an hour, if there is another one until then.
func (b Bundle) Issue(names []string, now time.Time) (Issued, error) {
	from := now.Add(announced)
	if last := b.last(); last == nil || last.NotAfter.Before(from) {
		from = now.Add(-announced) // clocks differ
	}
	return issue(b.owner, b.number(), names, from)
}
