{{/* What the manager may do: from the markers of its operators. Written by generate.sh. */}}
{{- define "cnat.rules" -}}
rules:
- apiGroups:
  - ""
  resourceNames:
  - settings
  resources:
  - configmaps
  verbs:
  - create
  - delete
  - list
  - patch
  - watch
- apiGroups:
  - ""
  resources:
  - pods
  verbs:
  - create
  - get
  - list
  - patch
  - watch
- apiGroups:
  - cnat.programming-kubernetes.info
  resources:
  - ats
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - cnat.programming-kubernetes.info
  resources:
  - ats/status
  verbs:
  - update
- apiGroups:
  - events.k8s.io
  resources:
  - events
  verbs:
  - create
- apiGroups:
  - settings.example.com
  resources:
  - settingslayers
  verbs:
  - list
  - watch
- apiGroups:
  - settings.example.com
  resources:
  - settingslayers/status
  verbs:
  - update
{{- end }}
