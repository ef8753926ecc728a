package member

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// iterations is PostgreSQL's own default.
const iterations = 4096

// newVerifier returns what PostgreSQL stores in the place of a password (RFC 5803). It takes that
// for a password, too, so that the password itself is in no statement and in no log.
func newVerifier(password string) (string, error) {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	return verifier(password, salt, iterations)
}

func verifier(password string, salt []byte, iterations int) (string, error) {
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		return "", err
	}
	stored := sha256.Sum256(sign(salted, "Client Key"))
	text := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations, text(salt), text(stored[:]), text(sign(salted, "Server Key"))), nil
}

func sign(key []byte, message string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(message))
	return mac.Sum(nil)
}

// verifies reports whether a verifier that PostgreSQL has stored is that of a password.
func verifies(stored, password string) bool {
	var n int
	parameters, _, _ := strings.Cut(strings.TrimPrefix(stored, "SCRAM-SHA-256$"), "$")
	count, encoded, _ := strings.Cut(parameters, ":")
	if _, err := fmt.Sscan(count, &n); err != nil || n <= 0 {
		return false // there is none, or one of another kind
	}
	salt, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return false
	}
	same, err := verifier(password, salt, n)
	return err == nil && same == stored
}
