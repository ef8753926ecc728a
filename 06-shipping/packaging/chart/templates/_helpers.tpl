{{/*
The name of what belongs to the manager. It does not depend on the release: the Lease has
this name, and the alerts look for a Service of this name. So there is one installation in
a namespace.
*/}}
{{- define "cnat.name" -}}
cnat-manager
{{- end }}

{{/* What the selectors select. They are immutable, and the same as Kustomize's. */}}
{{- define "cnat.selectorLabels" -}}
app.kubernetes.io/name: cnat
app.kubernetes.io/component: manager
{{- end }}

{{/* The labels of each object. */}}
{{- define "cnat.labels" -}}
{{ include "cnat.selectorLabels" . }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "cnat.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end }}
{{- end }}
{{- end }}

{{/* The subject of all bindings. */}}
{{- define "cnat.subjects" -}}
subjects:
- kind: ServiceAccount
  name: {{ include "cnat.name" . }}
  namespace: {{ .Release.Namespace | quote }}
{{- end }}
