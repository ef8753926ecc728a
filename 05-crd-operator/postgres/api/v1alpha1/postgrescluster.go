package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PostgresCluster is a PostgreSQL on one or more members: pods that are named after it, -1,
// -2 and so on, each with a disk of its own. One of them, the primary, takes writes. The others
// are standbys, which copy what it writes.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=pgc,categories=all
// +kubebuilder:printcolumn:name=Size,type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name=Version,type=string,JSONPath=`.spec.version`
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name=Term,type=integer,JSONPath=`.status.term`
// +kubebuilder:printcolumn:name=Primary,type=string,JSONPath=`.status.primary`
// +kubebuilder:printcolumn:name=Synced,type=string,JSONPath=`.status.synced`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 50",reason=FieldValueForbidden,fieldPath=".metadata",message="the name of a PostgresCluster has at most 50 characters, because it becomes a part of other names"
type PostgresCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What is wanted.
	Spec PostgresClusterSpec `json:"spec"`
	// What is there. The operator writes it, and the members act on it.
	// +optional
	Status PostgresClusterStatus `json:"status,omitzero"`
}

// PostgresClusterSpec says what is wanted.
type PostgresClusterSpec struct {
	// How many members there are, from 1 to 7. With two or more, a commit is
	// acknowledged when it is on two disks.
	// +required
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 7",message="size is the number of members, from 1 to 7"
	Size int32 `json:"size"`

	// The major version of PostgreSQL, such as "17". It has to be the one in the image
	// of the operator; without it, it is that one.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.matches('^[1-9][0-9]$')",message="version is a major version of PostgreSQL, such as \"17\""
	// +kubebuilder:validation:MaxLength=8
	Version string `json:"version,omitempty"`

	// Whether the operator leaves the cluster alone. The members go on; nobody takes
	// over for one that fails.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// The labels of the nodes on which new members may run.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Whether no two members may run on one node. It is about new members.
	// +optional
	AntiAffinity bool `json:"antiAffinity,omitempty"`

	// How large the disk of a new member is.
	// +optional
	// +default="1Gi"
	Storage resource.Quantity `json:"storage,omitempty"`

	// The member that should be the primary. The operator makes it the primary as soon as
	// it has every acknowledged commit. Without it, any member will do.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Primary string `json:"primary,omitempty"`

	// Leave to make a member the primary although it may lack acknowledged commits.
	// +optional
	AllowDataLoss *AllowDataLoss `json:"allowDataLoss,omitempty"`
}

// AllowDataLoss is leave to lose data, once.
type AllowDataLoss struct {
	// The member to be the primary.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Member string `json:"member"`
	// The term in which it is said: status.term. In any other it means nothing, so it cannot
	// act a second time.
	// +required
	Term int64 `json:"term"`
}

// Phase is what the operator is about.
//
// +kubebuilder:validation:Enum=Seeding;Running;Joining;Leaving;Electing;Unsafe;Promoting;Deleting
type Phase string

// The phases of a PostgresCluster. No phase at all is one that nobody has looked at.
const (
	Seeding   Phase = "Seeding"   // the first member is being made
	Running   Phase = "Running"   // there is a primary, and as many members as wanted
	Joining   Phase = "Joining"   // there is a primary, and members are being added
	Leaving   Phase = "Leaving"   // there is a primary, and members are being removed
	Electing  Phase = "Electing"  // there is no primary, and the next one is being chosen
	Unsafe    Phase = "Unsafe"    // like Electing, but nobody can be chosen without losing data
	Promoting Phase = "Promoting" // the next primary has been named
	Deleting  Phase = "Deleting"  // pods end, then disks go
)

// The conditions of a PostgresCluster.
const (
	// Available says whether there is a primary that takes writes.
	Available = "Available"
	// Redundant says whether every acknowledged commit is on two disks.
	Redundant = "Redundant"
	// Accepted is False if what the spec wants cannot be had; its reason says why.
	Accepted = "Accepted"
)

// PostgresClusterStatus is what is there. It is also what the operator has decided, for the
// members and for itself: it remembers nothing else.
type PostgresClusterStatus struct {
	// What the operator is about: Seeding, Running, Joining, Leaving, Electing, Unsafe,
	// Promoting or Deleting.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// A number that grows with each election. In a term there is one primary at most.
	// +optional
	Term int64 `json:"term,omitempty"`

	// The member that is the primary in this term, or is to become it, or makes the database.
	// Empty during an election.
	// +optional
	Primary string `json:"primary,omitempty"`

	// The UID of the primary's pod. Another pod of this name is not the primary. Empty while
	// the database is being made.
	// +optional
	PrimaryUID types.UID `json:"primaryUID,omitempty"`

	// The standby that has to have a commit before the primary acknowledges it: its
	// synchronous_standby_names.
	// +optional
	Standby string `json:"standby,omitempty"`

	// The members whose disks hold every acknowledged commit. Only one of them becomes the
	// primary.
	// +optional
	// +listType=set
	Synced []string `json:"synced,omitempty"`

	// The members, by number.
	// +optional
	// +listType=map
	// +listMapKey=name
	Members []MemberStatus `json:"members,omitempty"`

	// How many members are ready.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`

	// The labels of the members' pods, for kubectl scale and autoscalers.
	// +optional
	Selector string `json:"selector,omitempty"`

	// The generation of the spec that the operator has seen.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Available: a primary takes writes. Redundant: every acknowledged commit is on two
	// disks. Accepted: the spec can be had.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MemberStatus is what is known of a member.
type MemberStatus struct {
	Name string `json:"name"`
	// Whether it answers queries.
	// +optional
	Ready bool `json:"ready,omitempty"`
	// Primary or standby, or empty if neither.
	// +optional
	Role string `json:"role,omitempty"`
	// The timeline of PostgreSQL that it is on. Each promotion begins one.
	// +optional
	Timeline int32 `json:"timeline,omitempty"`
	// Where its PostgreSQL listens, as host:port.
	// +optional
	Address string `json:"address,omitempty"`
}

// PostgresClusterList is a list of PostgresClusters.
//
// +kubebuilder:object:root=true
type PostgresClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []PostgresCluster `json:"items"`
}
