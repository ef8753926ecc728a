{{/*
The version policy: an installation goes up or down by one minor version at a time, because
only neighbours are tested with each other's objects. `lookup` reads the cluster; in
`helm template` it finds nothing. A rollback renders nothing, so it is never refused.
*/}}
{{- define "cnat.checkUpgrade" -}}
{{- $deployment := lookup "apps/v1" "Deployment" .Release.Namespace (include "cnat.name" .) }}
{{- $running := dig "metadata" "labels" "app.kubernetes.io/version" "" $deployment }}
{{- if $running }}
{{- $from := semver $running }}
{{- $to := semver .Chart.AppVersion }}
{{- $steps := sub $to.Minor $from.Minor }}
{{- if or (ne $from.Major $to.Major) (gt $steps 1) (lt $steps -1) }}
{{- fail (printf "%s is installed, and %s is more than one minor version away: install the versions between them first, one after the other" $running .Chart.AppVersion) }}
{{- end }}
{{- end }}
{{- end }}
