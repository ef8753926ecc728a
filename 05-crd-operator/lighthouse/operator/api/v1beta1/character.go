package v1beta1

import (
	"strings"
	"time"
)

// The lengths that the words of a v1alpha1 flash have.
const (
	Short = 500 * time.Millisecond
	Long  = 2 * time.Second
)

// Lengths returns how long the flashes of all groups are, one after another. What a client sends is
// converted before it is validated, so the count may be anything; the schema has no room for more than 12.
func (c Character) Lengths() (lengths []time.Duration) {
	for range min(c.Count, 12) {
		for _, flash := range c.Flashes {
			lengths = append(lengths, flash.Duration)
		}
	}
	return lengths
}

// String is what a lamp prints: all flashes, as words where a word has that length.
func (c Character) String() string {
	var words []string
	for _, length := range c.Lengths() {
		switch length {
		case Short:
			words = append(words, "short")
		case Long:
			words = append(words, "long")
		default:
			words = append(words, length.String())
		}
	}
	return strings.Join(words, " ")
}
