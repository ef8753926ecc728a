package alerts

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheProgram(t *testing.T) {
	exposed := strings.Join(strings.Fields(installations()["cnat-manager"].metrics), " 1\n") // of the folder that it reads
	for name, tc := range map[string]struct {
		args           []string
		metrics        string
		code           int
		stdout, stderr string
	}{
		"all are there": {[]string{"../.."}, exposed, 0, "Every metric that an alert or a dashboard queries is there.\n", ""},
		"one is missing": {[]string{"../.."}, strings.Replace(exposed, "settings_drift", "settings_drifts", 1), 1,
			"settings_drift_repairs_total is not exposed, and queried by ", ""},
		"no folder":   {nil, "", 2, "", "alerts: name the folder"},
		"another one": {[]string{"."}, exposed, 2, "", "alerts: reading the alerts: open config/prometheus/rules.yaml"},
		"a long line": {[]string{"../.."}, strings.Repeat("a", 1<<17), 2, "", "alerts: reading metrics: "},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			assert.Equal(t, tc.code, Main(tc.args, strings.NewReader(tc.metrics), &stdout, &stderr))
			assert.True(t, strings.HasPrefix(stdout.String(), tc.stdout), stdout.String())
			assert.True(t, strings.HasPrefix(stderr.String(), tc.stderr), stderr.String())
		})
	}
}
