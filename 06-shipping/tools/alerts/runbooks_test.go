package alerts

import (
	"cmp"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each page has these parts, so that somebody who is woken up finds them.
var parts = []string{"## What it means\n", "## See it\n", "## What to do\n"}

// shortcomings are what is wrong with the pages for the alerts.
func shortcomings(folder string, rules []Rule, pages map[string]string) []string {
	var problems []string
	alerts := map[string]bool{}
	for _, rule := range rules {
		alerts[rule.Alert] = true
		if page := cmp.Or(rule.Annotations["runbook"], rule.Annotations["runbook_url"]); page != folder+"/runbooks/"+rule.Alert+".md" {
			problems = append(problems, rule.Alert+" points to "+page)
		}
		if link, ok := rule.Annotations["runbook_url"]; ok && !strings.HasPrefix(link, "https://") {
			problems = append(problems, rule.Alert+" has a runbook_url that is no URL, so what Alertmanager links to is not there: "+link)
		}
		if rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" || rule.Labels["severity"] == "" {
			problems = append(problems, rule.Alert+" does not say what it is, or how bad")
		}
		page := pages[rule.Alert]
		for _, part := range append([]string{"# " + rule.Alert + "\n"}, parts...) {
			if !strings.Contains("\n"+page, "\n"+part) {
				problems = append(problems, "the page of "+rule.Alert+" lacks "+strings.TrimSpace(part))
			}
		}
		if !strings.Contains(page, "\n```sh\n") {
			problems = append(problems, "the page of "+rule.Alert+" has no command")
		}
	}
	for name := range pages {
		if !alerts[name] {
			problems = append(problems, "there is a page for "+name+", and no alert")
		}
	}
	return problems
}

func TestEachAlertHasAPage(t *testing.T) {
	for _, i := range installations() {
		rules, err := Rules(i.files)
		require.NoError(t, err)
		pages := map[string]string{}
		files, err := fs.Glob(i.files, "runbooks/*.md")
		require.NoError(t, err)
		for _, file := range files {
			content, err := fs.ReadFile(i.files, file)
			require.NoError(t, err)
			pages[strings.TrimSuffix(path.Base(file), ".md")] = string(content)
		}
		assert.Empty(t, shortcomings(i.folder, rules, pages))
	}
}

func TestAPageThatIsNotThereIsFound(t *testing.T) {
	rule := Rule{Alert: "X", Labels: map[string]string{"severity": "warning"}, Annotations: map[string]string{
		"summary": "s", "description": "d", "runbook": "06-shipping/runbooks/X.md",
	}}
	page := "# X\n\n" + strings.Join(parts, "\n") + "\n```sh\nkubectl\n```\n"
	assert.Empty(t, shortcomings("06-shipping", []Rule{rule}, map[string]string{"X": page}))

	assert.Equal(t, []string{"there is a page for X, and no alert"}, shortcomings("06-shipping", nil, map[string]string{"X": page}))
	assert.Equal(t, []string{"the page of X lacks ## See it"}, shortcomings("06-shipping", []Rule{rule}, map[string]string{"X": strings.Replace(page, "## See it", "", 1)}))
	assert.Equal(t, []string{"the page of X has no command"}, shortcomings("06-shipping", []Rule{rule}, map[string]string{"X": strings.Replace(page, "```sh", "```", 1)}))
	assert.Len(t, shortcomings("06-shipping", []Rule{rule}, nil), 5)

	rule.Annotations = map[string]string{"summary": "s", "description": "d", "runbook": "runbooks/Y.md"}
	assert.Equal(t, []string{"X points to runbooks/Y.md"}, shortcomings("06-shipping", []Rule{rule}, map[string]string{"X": page}))
	rule.Annotations["runbook"], rule.Annotations["runbook_url"] = "06-shipping/runbooks/X.md", "06-shipping/runbooks/X.md"
	assert.Equal(t, []string{"X has a runbook_url that is no URL, so what Alertmanager links to is not there: 06-shipping/runbooks/X.md"},
		shortcomings("06-shipping", []Rule{rule}, map[string]string{"X": page}))
	rule.Annotations["runbook_url"] = "https://example.com/X"
	assert.Empty(t, shortcomings("06-shipping", []Rule{rule}, map[string]string{"X": page}))
	rule.Annotations = map[string]string{"runbook": "06-shipping/runbooks/X.md"}
	assert.Equal(t, []string{"X does not say what it is, or how bad"}, shortcomings("06-shipping", []Rule{rule}, map[string]string{"X": page}))
}
