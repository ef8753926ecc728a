package report

import "regexp"

const redacted = "[redacted]"

// secretNames are what comes before a secret, at the end of a longer name as well: PGPASSWORD.
const secretNames = `(?:password|passwd|passphrase|pwd|token|[-_]secret|secret[-_]?(?:access[-_]?)?key|api[-_]?key|private[-_]?key|key-data|credentials?)`

// secrets are what is never in a report, with what takes its place.
var secrets = []struct {
	pattern *regexp.Regexp
	instead string
}{
	// Keys, with their lines or with \n in a string; as kubeconfigs have them; and without a beginning.
	{regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=\s]|\\n)*(?:-----END [A-Z0-9 ]*PRIVATE KEY-----)?`), redacted + "\n"},
	{regexp.MustCompile(`LS0tLS1CRUdJTi[A-Za-z0-9+/=]*`), redacted},
	{regexp.MustCompile(`(?m)^[ \t]*[A-Za-z0-9+/]{40,}={0,2}[ \t]*$`), redacted},
	// Tokens of service accounts and others, by their form; and all of the header for them.
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?`), redacted},
	{regexp.MustCompile(`(?i)(\bauthorization\\*["']?\s*[:=]\s*\[?\\*["']?)[^"'\]\n]+`), "${1}" + redacted},
	{regexp.MustCompile(`(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]+`), "${1}" + redacted},
	// NAME=value, "name": "value", also in a string in a string; and --name value.
	{regexp.MustCompile(`(?i)(` + secretNames + `\\*["']?(?::|[ \t]*=)[ \t]*\\*)(?:"[^"\n]*"|'[^'\n]*'|[^\s"'\\,;&}]+)`), "${1}" + redacted},
	{regexp.MustCompile(`(?i)(--?[a-z-]*` + secretNames + `\s+)[^\s"'-][^\s"']*`), "${1}" + redacted},
	// A password in a URL.
	{regexp.MustCompile(`(://[^\s/@:"']*:)[^\s/@"']+@`), "${1}" + redacted + "@"},
}

// Redact takes out what looks like a secret: keys, tokens, passwords.
func Redact(text string) string {
	for _, s := range secrets {
		text = s.pattern.ReplaceAllString(text, s.instead)
	}
	return text
}
