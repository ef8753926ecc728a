package component

import (
	_ "embed"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
	"example.com/hacking-a-controller/lab/internal/layout"
)

// Audit is the name of the audit log, which the API server writes beside its own.
const Audit = "audit"

// The audit log and the one before it: with these sizes, in megabytes, it takes
// at most 100 of them. The API server sets a full one aside.
const (
	auditLogSize = 50
	auditLogsOld = 1
)

//go:embed audit-policy.yaml
var auditPolicy []byte

// WriteAuditPolicy writes the file without which the API server does not start.
func WriteAuditPolicy(l layout.Layout) error {
	return atomicfile.Write(l.AuditPolicy(), auditPolicy)
}
