package alerts

import (
	"fmt"
	"io/fs"

	"sigs.k8s.io/yaml"
)

// Rule is an alert, as Prometheus has it.
type Rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// Rules reads the alerts of the PrometheusRule. The stage is the folder 06-shipping.
func Rules(stage fs.FS) ([]Rule, error) {
	const file = "config/prometheus/rules.yaml"
	content, err := fs.ReadFile(stage, file)
	if err != nil {
		return nil, fmt.Errorf("reading the alerts: %w", err)
	}
	var resource struct {
		Spec struct {
			Groups []struct {
				Rules []Rule `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(content, &resource); err != nil {
		return nil, fmt.Errorf("reading the alerts in %s: %w", file, err)
	}
	var all []Rule
	for _, group := range resource.Spec.Groups {
		all = append(all, group.Rules...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there are no alerts in %s", file)
	}
	return all, nil
}
