package plan_test

// A scope says what can happen in a search.
type scope struct {
	size    int8
	commits int8 // at most
	faults  int8 // at most
	kinds   []kind
	wishes  []func(*spec) // of people, uttered in this order
	backup  bool          // there is a backup
	leave   bool          // a person allows data loss when the cluster is Unsafe
	hole    bool          // the kubelet may be dead while a member is frozen, so the Lease runs out first
	late    bool          // statuses may come late to members
	old     bool          // and the first status that a new pod sees may be an old one
	second  bool          // there is a second operator, which does not know that it is replaced
	slow    bool          // the operator does not see everything at the same instant
	begin   func() *world // the world to begin with, if it is not an empty one
	without rule
	minds   *minds
}

func (s *scope) start() world {
	w := world{spec: spec{size: s.size}}
	if s.begin != nil {
		w = *s.begin()
	}
	w.faults, w.spec.backup = s.faults, s.backup
	return w
}

// unreachable is why there is no world to begin with, or empty.
func (s *scope) unreachable() string {
	if s.begin != nil && s.begin() == nil {
		return "no way to a cluster that is well, with which this begins"
	}
	return ""
}
