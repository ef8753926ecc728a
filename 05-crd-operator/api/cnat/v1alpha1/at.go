package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// At runs a command at a time: once, in a pod of its own, named after the At
// with -pod behind it.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=at
// +kubebuilder:printcolumn:name=Schedule,type=string,JSONPath=`.spec.schedule`
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",reason=FieldValueForbidden,fieldPath=".metadata",message="the name of an At has at most 63 characters, because it becomes a label of the pod"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.phase) || oldSelf.status.phase == 'PENDING' || self.spec.schedule == oldSelf.spec.schedule",reason=FieldValueForbidden,fieldPath=".spec.schedule",message="the schedule cannot be changed any more, because the command has been started; create another At"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.phase) || oldSelf.status.phase == 'PENDING' || self.spec.command == oldSelf.spec.command",reason=FieldValueForbidden,fieldPath=".spec.command",message="the command cannot be changed any more, because it has been started; create another At"
type At struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What to run, and when.
	Spec AtSpec `json:"spec"`
	// How far it has got. The operator writes it.
	// +optional
	Status AtStatus `json:"status,omitzero"`
}

// AtSpec says what to run, and when.
//
// Schedule and command are required. One that is missing is made empty, so that
// the rules here can say what to write. Of a missing field Kubernetes itself says
// only that it is required, and that no rule was checked.
//
// +kubebuilder:validation:XValidation:rule="size(self.schedule) > 0",reason=FieldValueRequired,fieldPath=".schedule",message="say when to run the command, such as 2019-04-12T10:12:00Z"
// +kubebuilder:validation:XValidation:rule="size(self.command) > 0",reason=FieldValueRequired,fieldPath=".command",message="say what to run: a line for the shell, such as echo YAY"
type AtSpec struct {
	// When to run the command: a time as in RFC 3339, with a zone, such as
	// 2019-04-12T10:12:00Z or 2019-04-12T12:12:00+02:00. A time in the past is
	// now. It cannot be changed once the command has been started.
	// +required
	// +default=""
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || !format.datetime().validate(self).hasValue() && self.matches('^[0-9Tt:-]{19}([.][0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$')",message="the schedule is not a time as in RFC 3339: date, T, time and zone, such as 2019-04-12T10:12:00Z"
	Schedule string `json:"schedule"`

	// What to run: a line for sh -c, so quotes, pipes and variables work. It
	// cannot be changed once the command has been started. It has at most 131071
	// bytes. kubectl apply keeps a copy of the manifest in an annotation, which
	// has at most 256 KiB: a longer one takes kubectl apply --server-side.
	// +required
	// +default=""
	// +kubebuilder:validation:MaxLength=1048576
	// +kubebuilder:validation:XValidation:rule="size(bytes(self)) <= 131071",reason=FieldValueForbidden,message="the command has more than 131071 bytes, and Linux takes no longer argument; put it into a script in an image or a ConfigMap"
	// +kubebuilder:validation:XValidation:rule="!self.contains('\\x00')",reason=FieldValueForbidden,message="the command has a NUL, which no argument of a program can have; let printf make it when the command runs"
	Command string `json:"command"`

	// How many whole seconds late the command may still be started, in case that
	// it could not be started on time. After that it is never run, and the At has
	// failed. Without it, it is started however late it is.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 0",message="startingDeadlineSeconds is a number of seconds, 0 or more"
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`
}

// AtPhase is how far an At has got.
//
// +kubebuilder:validation:Enum=PENDING;RUNNING;DONE
type AtPhase string

// The phases of an At, in their order.
const (
	Pending AtPhase = "PENDING" // it waits for its time; no phase at all is the same
	Running AtPhase = "RUNNING" // its time has come: its pod is created, and followed
	Done    AtPhase = "DONE"    // nothing more will happen; the conditions say how it ended
)

// The conditions of an At.
const (
	// Scheduled says whether the command will be run when its time has come. If
	// it is False, its reason says what is in the way.
	Scheduled = "Scheduled"
	// Complete is True when the command has ended with exit code 0.
	Complete = "Complete"
	// Failed is True when the command has failed, or will never run.
	Failed = "Failed"
)

// AtStatus says how far an At has got.
type AtStatus struct {
	// PENDING until the time has come, then RUNNING until the command has ended, then
	// DONE.
	// +optional
	Phase AtPhase `json:"phase,omitempty"`

	// Scheduled: whether the command will be run. Complete: it ended with exit
	// code 0. Failed: it ended otherwise, or will never run.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// The name of the pod that runs the command.
	// +optional
	PodName string `json:"podName,omitempty"`

	// When the command was started: the At became RUNNING, and its pod was created
	// after that.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// When the command ended, or was found to have ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// The exit code of the command, if it ended by itself.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`
}

// AtList is a list of Ats.
//
// +kubebuilder:object:root=true
type AtList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []At `json:"items"`
}
