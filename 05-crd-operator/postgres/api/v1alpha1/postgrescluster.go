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
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.matches('-(app|replication|ca|ro|member|backup|tls-[12])$')",reason=FieldValueForbidden,fieldPath=".metadata",message="the name of a PostgresCluster does not end with -app, -replication, -ca, -ro, -member, -backup, -tls-1 or -tls-2, because objects of other clusters have such names"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || !self.metadata.name.contains('.')",optionalOldSelf=true,reason=FieldValueForbidden,fieldPath=".metadata",message="the name of a PostgresCluster has no dot, because it becomes that of a Service"
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

	// The labels of the nodes on which new members may run. The operator reads them:
	// Accepted is False if no node can have them.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Whether no two members may run on one node, even if one of them then waits for a node.
	// Otherwise they are kept apart where there is room. It is about new members.
	// +optional
	AntiAffinity bool `json:"antiAffinity,omitempty"`

	// How large the disk of a member is, at least 224Mi. If it grows, so do the disks that are
	// there; no disk ever shrinks.
	//
	// Less would not do: of 224Mi, a quarter is for the log, an empty database takes 40 MiB, and
	// once the disk was nearly full, writes go on when 128 MiB are left.
	// +optional
	// +default="1Gi"
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('224Mi')) >= 0",message="storage is the size of a disk, at least 224Mi"
	Storage resource.Quantity `json:"storage,omitzero"`

	// The member that should be the primary. The operator makes it the primary as soon as
	// it has every acknowledged commit. Without it, any member will do.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Primary string `json:"primary,omitempty"`

	// Leave to make a member the primary although it may lack acknowledged commits.
	// +optional
	AllowDataLoss *AllowDataLoss `json:"allowDataLoss,omitempty"`

	// What is kept in case all disks are lost. Without it, nothing.
	// +optional
	Backup *Backup `json:"backup,omitempty"`

	// The backup that the database is made of, in place of an empty one. It matters only
	// while the database is made.
	// +optional
	RestoreFrom *RestoreFrom `json:"restoreFrom,omitempty"`
}

// Backup is what is kept on a disk of its own: base backups, which are copies of the whole
// database, and the archive, which is all of the log since the oldest of them.
type Backup struct {
	// When base backups are made: a line of cron, in UTC, such as "0 3 * * *", or
	// "@every 6h", but not more often than every 10s. The first is made as soon as there is a primary.
	// The operator reads it: Accepted is False if it cannot.
	// +required
	// +kubebuilder:validation:MaxLength=100
	Schedule string `json:"schedule"`

	// How many base backups are kept. With an older one goes the log that only it needs.
	// +optional
	// +default=7
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 100",message="keep is a number of base backups, from 1 to 100"
	Keep int32 `json:"keep,omitempty"`

	// How large the disk of the backups is, at least 224Mi.
	// +optional
	// +default="1Gi"
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('224Mi')) >= 0",message="storage is the size of a disk, at least 224Mi"
	Storage resource.Quantity `json:"storage,omitzero"`

	// How long a commit waits at most until its part of the log is closed and goes to the
	// archive.
	// +optional
	// +default="1m"
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('5m')",message="archiveTimeout is a duration from 1s to 5m"
	ArchiveTimeout metav1.Duration `json:"archiveTimeout,omitzero"`

	// What becomes of the disk of the backups when the cluster is deleted: Retain or Delete.
	// +optional
	// +default="Retain"
	OnDelete RetentionPolicy `json:"onDelete,omitempty"`
}

// RetentionPolicy is what becomes of backups when their cluster is deleted.
//
// +kubebuilder:validation:Enum=Retain;Delete
type RetentionPolicy string

// The retention policies.
const (
	Retain RetentionPolicy = "Retain"
	Delete RetentionPolicy = "Delete"
)

// RestoreFrom names a backup, and how much of it is wanted.
type RestoreFrom struct {
	// The PostgresCluster whose backup it is, in the same namespace. Its backups have to be
	// there; the cluster itself need not.
	// +required
	// +kubebuilder:validation:MaxLength=50
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="cluster is the name of a PostgresCluster in the same namespace"
	Cluster string `json:"cluster"`
	// Up to when: the commits until then. Without it, all that is in the archive.
	// +optional
	Time *metav1.Time `json:"time,omitempty"`
}

// AllowDataLoss is leave to lose data, once.
type AllowDataLoss struct {
	// The member to be the primary.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Member string `json:"member"`
	// The term in which it is said: status.term. In any other it means nothing, so it cannot
	// act a second time.
	// +required
	Term int64 `json:"term"`
}

// Phase is what the operator is about.
//
// +kubebuilder:validation:Enum=Seeding;Running;Joining;Leaving;Electing;Unsafe;Promoting;Recovering;Deleting
type Phase string

// The phases of a PostgresCluster. No phase at all is one that nobody has looked at.
const (
	Seeding    Phase = "Seeding"    // the first member is being made
	Running    Phase = "Running"    // there is a primary, and as many members as wanted
	Joining    Phase = "Joining"    // there is a primary, and members are being added
	Leaving    Phase = "Leaving"    // there is a primary, and members are being removed
	Electing   Phase = "Electing"   // there is no primary, and the next one is being chosen
	Unsafe     Phase = "Unsafe"     // like Electing, but nobody can be chosen without losing data
	Promoting  Phase = "Promoting"  // the next primary has been named
	Recovering Phase = "Recovering" // all disks are lost; the first member is made of the backup
	Deleting   Phase = "Deleting"   // pods end, then disks go
)

// The conditions of a PostgresCluster.
const (
	// Available says whether there is a primary. It takes writes, unless a disk is nearly full.
	Available = "Available"
	// Redundant says whether every acknowledged commit is on two disks, and the standby receives the next ones.
	Redundant = "Redundant"
	// HasSpace is False if the disk of a member is nearly full. If it is that of a synced one,
	// the primary takes no writes until there is space.
	HasSpace = "HasSpace"
	// Accepted is False if what the spec wants cannot be had; its reason says why.
	Accepted = "Accepted"
	// BackedUp says whether there is a backup that was restored on trial, and the archive has
	// all of the log but the latest. It is there if spec.backup is.
	BackedUp = "BackedUp"
)

// PostgresClusterStatus is what is there. It is also what the operator has decided, for the
// members and for itself: it remembers nothing else.
type PostgresClusterStatus struct {
	// What the operator is about: Seeding, Running, Joining, Leaving, Electing, Unsafe,
	// Promoting, Recovering or Deleting.
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

	// The databases that were given up when a person allowed data loss. They may have the last
	// copy of acknowledged commits, so only a person erases them.
	// +optional
	// +listType=map
	// +listMapKey=member
	// +listMapKey=term
	Lost []LostData `json:"lost,omitempty"`

	// The members that were synced when the primary was named, until it takes writes. They still
	// have every acknowledged commit if it was never promoted.
	// +optional
	// +listType=set
	SyncedBefore []string `json:"syncedBefore,omitempty"`

	// The major version of the PostgreSQL that has made the database. An image with another one
	// cannot read it.
	// +optional
	Version string `json:"version,omitempty"`

	// The backup that the database was made of, or is being made of. Without it, it was empty.
	// +optional
	Restore *RestoreFrom `json:"restore,omitempty"`

	// What is known of the backups.
	// +optional
	Backup *BackupStatus `json:"backup,omitempty"`

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

	// Available: there is a primary, and new clients can connect to it. Redundant: every acknowledged commit is on two disks, and the standby is there.
	// HasSpace: no disk is nearly full. Accepted: the spec can be had. BackedUp: there is a backup that can be restored.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// BackupStatus is what is known of the backups of a cluster.
type BackupStatus struct {
	// When the last base backup that has ended was begun.
	// +optional
	Begun *metav1.Time `json:"begun,omitempty"`
	// The UID of the pod that made it. Its result is in this status.
	// +optional
	Counted types.UID `json:"counted,omitempty"`
	// How many have failed one after the other.
	// +optional
	Failures int32 `json:"failures,omitempty"`
	// When the newest base backup was complete. It was restored on trial.
	// +optional
	LastBackup *metav1.Time `json:"lastBackup,omitempty"`
	// How large it is, in bytes.
	// +optional
	Bytes int64 `json:"bytes,omitempty"`
	// The times to which the database can be restored.
	// +optional
	Restorable *Restorable `json:"restorable,omitempty"`
}

// Restorable is a range of times. What was acknowledged until its end is in the archive.
type Restorable struct {
	From metav1.Time `json:"from"`
	To   metav1.Time `json:"to"`
}

// LostData is the database of a member that was given up.
type LostData struct {
	// The member that has it on its disk.
	Member string `json:"member"`
	// The term in which a person allowed that it is lost.
	Term int64 `json:"term"`
	// The folder of the disk in which the member keeps it. Empty until the member comes back.
	// +optional
	Folder string `json:"folder,omitempty"`
}

// MemberStatus is what is known of a member.
type MemberStatus struct {
	Name string `json:"name"`
	// Whether it answers queries of new clients.
	// +optional
	Ready bool `json:"ready,omitempty"`
	// Why no new client can connect to it, and what to do.
	// +optional
	Unreachable string `json:"unreachable,omitempty"`
	// Primary or standby, or empty if neither.
	// +optional
	Role string `json:"role,omitempty"`
	// The timeline of PostgreSQL that it is on. Each promotion begins one.
	// +optional
	Timeline int32 `json:"timeline,omitempty"`
	// The version of its PostgreSQL, such as 17.6.
	// +optional
	Version string `json:"version,omitempty"`
	// Where its PostgreSQL listens, as host:port.
	// +optional
	Address string `json:"address,omitempty"`
	// How large its disk is.
	// +optional
	Storage resource.Quantity `json:"storage,omitzero"`
	// Whether its disk is nearly full: less than a tenth is left.
	// +optional
	Full bool `json:"full,omitempty"`
	// Why it has no copy of the database, or does not receive from the primary, if the last attempt has failed.
	// +optional
	Trouble string `json:"trouble,omitempty"`
}

// PostgresClusterList is a list of PostgresClusters.
//
// +kubebuilder:object:root=true
type PostgresClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []PostgresCluster `json:"items"`
}
