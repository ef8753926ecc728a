package operator

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheVersionIsTheTagOfTheImage(t *testing.T) {
	for image, want := range map[string]string{
		"postgres-member:17":                         "17",
		"localhost:5000/team/postgres-member:15":     "15",
		"postgres-member:17@sha256:" + digest:        "17",
		"":                                           "--image is missing",
		"postgres-member":                            "does not say which PostgreSQL is in it",
		"postgres-member:latest":                     "does not say which PostgreSQL is in it",
		"postgres-member:17.6":                       "17",
		"postgres-member:15.14@sha256:" + digest:     "15",
		"postgres-member:17.":                        "does not say which PostgreSQL is in it",
		"postgres-member:17.6.1":                     "does not say which PostgreSQL is in it",
		"postgres-member:17-alpine":                  "does not say which PostgreSQL is in it",
		"postgres-member:017":                        "does not say which PostgreSQL is in it",
		"postgres-member:9.6":                        "does not say which PostgreSQL is in it",
		"localhost:5000/postgres-member":             "does not say which PostgreSQL is in it",
		"postgres-member@sha256:" + digest:           "does not say which PostgreSQL is in it",
		"Postgres Member:17":                         "is no name of an image",
		"postgres-member:99999999999999999999999999": "does not say which PostgreSQL is in it",
	} {
		t.Run(image, func(t *testing.T) {
			got, err := versionOf(image)
			if err != nil {
				got = err.Error()
			}
			assert.Contains(t, got, want)
			assert.Equal(t, err == nil, got == want)
		})
	}
}

const digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
