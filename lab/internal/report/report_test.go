package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/testenv"
)

func says(text string, err error) func(context.Context, io.Writer) error {
	return func(_ context.Context, out io.Writer) error {
		_, _ = io.WriteString(out, text)
		return err
	}
}

func TestAReportHasWhatThereIsAndSaysWhatIsMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.tar.gz")
	require.NoError(t, os.WriteFile(path, []byte("the one before"), 0o644))
	missing, err := Write(t.Context(), path, []Part{
		{"whole", says("all of it\n", nil)},
		{"part", says("begins\n", errors.New("it broke, --token=hunter2"))},
		File("none", filepath.Join(t.TempDir(), "none")),
		{"slow", func(ctx context.Context, _ io.Writer) error { return ctx.Err() }},
	})
	require.NoError(t, err)
	require.Len(t, missing, 2)
	assert.Equal(t, "part: it broke, --token=[redacted]", missing[0])
	files := testenv.Unpack(t, path)
	assert.Equal(t, "all of it\n", files["lab-report/whole"])
	assert.Equal(t, "begins\n", files["lab-report/part"])
	assert.Equal(t, strings.Join(missing, "\n")+"\n", files["lab-report/missing.txt"])
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestAPartThatHangsEndsWithItsTime(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no answer"))
	missing, err := Write(ctx, filepath.Join(t.TempDir(), "report.tar.gz"), []Part{{"slow", func(ctx context.Context, _ io.Writer) error {
		deadline, ok := ctx.Deadline()
		assert.True(t, ok, deadline)
		<-ctx.Done()
		return ctx.Err()
	}}})
	require.NoError(t, err)
	assert.Equal(t, []string{"slow: no answer"}, missing)
}

func TestTheEndOfALog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	lines := func(from, to int, fill string) string {
		var all strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&all, "line %d%s\n", i, fill)
		}
		return all.String()
	}
	long := strings.Repeat(" x", 4<<10)
	for sentence, tc := range map[string]struct{ content, want string }{
		"it is short":                    {lines(0, 3, ""), lines(0, 3, "")},
		"it is empty":                    {"", ""},
		"it is long":                     {lines(0, 2000, ""), lines(2000-logLines, 2000, "")},
		"its last line is not whole yet": {lines(0, 2000, "") + "and", lines(2000-logLines, 2000, "") + "and"},
		"its lines are long":             {lines(1000, 2000, long), lines(2000-maxTail/(len(long)+10), 2000, long)},
	} {
		t.Run(sentence, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, []byte(tc.content), 0o600))
			var out strings.Builder
			require.NoError(t, tail(path, &out))
			assert.Equal(t, tc.want, out.String())
		})
	}
}

func TestSecretsAreTakenOut(t *testing.T) {
	const key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/hunter2\nhunter2==\n-----END RSA PRIVATE KEY-----"
	base := strings.Repeat("hunter2", 9)
	for text, want := range map[string]string{
		"a " + key + "\nb": "a [redacted]\n\nb",
		`x="` + strings.ReplaceAll(key, "\n", `\n`) + `" y`: "x=\"[redacted]\n\" y",
		"client-key-data: LS0tLS1CRUdJTihunter2=":           "client-key-data: [redacted]",
		"see LS0tLS1CRUdJTihunter2= there":                  "see [redacted] there",
		"a\n" + base + "\nb":                                "a\n[redacted]\nb",
		"eyJhbGciOiJS.eyJzdWIiOiJ.hunter2-_x, b":            "[redacted], b",
		"Authorization: Bearer hunter2 and":                 "Authorization: [redacted]",
		`"Authorization":["Basic hunter2 x"], b`:            `"Authorization":["[redacted]"], b`,
		"curl -H 'authorization: token hunter2' x":          "curl -H 'authorization: [redacted]' x",
		"used bearer hunter2 there":                         "used bearer [redacted] there",
		"PGPASSWORD=hunter2 psql":                           "PGPASSWORD=[redacted] psql",
		`password: "hunter2 hunter2", b`:                    `password: [redacted], b`,
		`{"password":"hunter2","user":"b"}`:                 `{"password":[redacted],"user":"b"}`,
		`"{\"token\":\"hunter2\",\"a\":1}"`:                 `"{\"token\":\[redacted],\"a\":1}"`,
		"--password hunter2 b":                              "--password [redacted] b",
		"--token=hunter2 b":                                 "--token=[redacted] b",
		"client_secret=hunter2&b":                           "client_secret=[redacted]&b",
		"AWS_SECRET_ACCESS_KEY=hunter2":                     "AWS_SECRET_ACCESS_KEY=[redacted]",
		"postgres://me:hunter2@host/db":                     "postgres://me:[redacted]@host/db",
		"with API_KEY='hunter2 2' b":                        "with API_KEY=[redacted] b",
	} {
		got := Redact(text)
		assert.Equal(t, want, got)
		assert.NotContains(t, got, "hunter2")
	}
	for _, useful := range []string{
		`MountVolume.SetUp failed for volume "token" : secret "db-password" not found`,
		"container 4d1f0b6e7a8c9d0e1f2a3b4c5d6e7f8a4d1f0b6e7a8c9d0e1f2a3b4c5d6e7f8a has ended",
		"http://127.0.0.1:2379/health: connection refused",
		`FLAG: --token-auth-file=""`,
		"--service-account-key-file=/home/me/.lab/pki/service-account.crt",
	} {
		assert.Equal(t, useful, Redact(useful))
	}
}
