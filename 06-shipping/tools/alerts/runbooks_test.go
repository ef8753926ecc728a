package alerts

import (
	"cmp"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each page has these parts, so that somebody who is woken up finds them.
var parts = []string{"\n## What it means\n", "\n## See it\n", "\n## What to do\n", "\n```sh\n"}

func TestEachAlertHasAPage(t *testing.T) {
	for _, i := range installations() {
		rules, err := Rules(i.files)
		require.NoError(t, err)
		var pages []string
		for _, rule := range rules {
			for _, text := range []string{rule.Annotations["summary"], rule.Annotations["description"], rule.Labels["severity"]} {
				assert.NotEmpty(t, text, "%s does not say what it is, or how bad", rule.Alert)
			}
			page := "runbooks/" + rule.Alert + ".md"
			pages = append(pages, page)
			assert.Equal(t, i.folder+"/"+page, cmp.Or(rule.Annotations["runbook"], rule.Annotations["runbook_url"]))
			if link, ok := rule.Annotations["runbook_url"]; ok {
				assert.Regexp(t, "^https://", link, "what Alertmanager links to")
			}
			content, err := fs.ReadFile(i.files, page)
			require.NoError(t, err)
			for _, part := range append([]string{"\n# " + rule.Alert + "\n"}, parts...) {
				assert.Contains(t, "\n"+string(content), part, page)
			}
		}
		files, err := fs.Glob(i.files, "runbooks/*.md")
		require.NoError(t, err)
		assert.ElementsMatch(t, pages, files, "a page without an alert")
	}
}
