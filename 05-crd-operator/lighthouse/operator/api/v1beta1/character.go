package v1beta1

import "time"

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
