package repository

import (
	"errors"
	"fmt"
	"os"
)

// A Written file has a part that make generate writes.
type Written struct {
	File string // from the root
	From string // the file that the part is made of
	// Put returns what the file should be, for what it is.
	Put func(have string) (want string, err error)
}

// CheckWritten says which of the files are not what they should be.
func (r Repository) CheckWritten(files []Written) error {
	var wrong []error
	for _, f := range files {
		have, want, err := r.texts(f)
		if err == nil && have != want {
			err = fmt.Errorf("%s isn't what %s makes of it; run: make generate", f.File, f.From)
		}
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}

// Rewrite writes those of the files that are not what they should be.
func (r Repository) Rewrite(files []Written) error {
	for _, f := range files {
		have, want, err := r.texts(f)
		if err == nil && have != want {
			err = os.WriteFile(r.Path(f.File), []byte(want), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r Repository) texts(f Written) (have, want string, err error) {
	content, err := os.ReadFile(r.Path(f.File))
	if err != nil {
		return "", "", err
	}
	want, err = f.Put(string(content))
	return string(content), want, err
}
