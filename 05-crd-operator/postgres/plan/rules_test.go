package plan_test

// A rule is left out, to see that the search finds what it is for.
type rule string

const (
	noRule        rule = ""
	onlyPublished rule = "a standby is published only after it has everything"
	positionLate  rule = "what a standby has to have is measured after the promotion"
	perConnection rule = "and it is measured again when the standby connects"
	namesFirst    rule = "the names are set before the promotion"
	samePod       rule = "the UID of the primary's pod is compared"
	needLease     rule = "only the holder of the Lease is promoted"
	onlySynced    rule = "only a synced member is promoted"
	needProof     rule = "only a pod that has ended loses its Lease early"
	oneChoice     rule = "a choice of the standby waits until the last one is in force"
	compareSwap   rule = "a status is written only over the one that it was decided on"
	firstLive     rule = "the first status that a pod sees is read live"
	nothingIsLeft rule = "the backup is restored only if no disk is left"
	keepLost      rule = "a database that was given up is kept"
	inTerm        rule = "a standby is published only if it knows of the term"
	ownNumber     rule = "a timeline has the number of its term"
	oncePerTerm   rule = "a member is promoted once in a term"
	primaryLast   rule = "the primary is asked after the others"
	neverPromoted rule = "who was synced before is synced only if the member that was named was never promoted"
)

// bendObservation leaves a rule of the operator out.
func (s *scope) bendObservation(o observation) observation {
	switch s.without {
	case onlySynced:
		if phases[o.status.phase] == "Electing" && o.waited == 0 {
			o.status.synced = [2]int8{1, 2}
		}
	case needLease:
		o.holder = pod{}
	case neverPromoted:
		for i := range o.members {
			if phases[o.status.phase] != "Promoting" {
				o.members[i].report.timeline = 0
			}
		}
	case oncePerTerm, ownNumber: // a timeline says nothing about terms
		for i := range o.members {
			if o.members[i].report.timeline = 0; phases[o.status.phase] != "Promoting" {
				o.members[i].report.timeline = o.status.term - 1
			}
		}
	case nothingIsLeft:
		if o.status.phase == unsafe {
			o.members = [3]observed{}
		}
	case inTerm:
		for i := range o.members {
			if m := &o.members[i]; o.status.phase == running && m.report.run != 0 {
				m.report.term, m.report.following = o.status.term, o.status.primary
			}
		}
	case needProof:
		if n := o.holder.member; n != 0 && o.members[n-1].report.run == 0 {
			o.expired = true
		}
	case oneChoice:
		for i := range o.members {
			o.members[i].report.names = o.status.standby
		}
	}
	return o
}

// bend leaves a rule of the members out.
func (s *scope) bendOpinion(o opinion) opinion {
	switch {
	case s.without == keepLost:
		o.seen.lost = 0
	case s.without == samePod && o.seen.primary == o.pod.member && o.seen.primaryPod.run != 0:
		o.seen.primaryPod = o.pod
		o.report.timeline = 0 // or its disk would keep it from being promoted again
	case s.without == needLease && o.seen.primaryPod == o.pod:
		o.holds = true
	case s.without == oncePerTerm, s.without == ownNumber:
		o.report.timeline = 0
	case s.without == namesFirst && !o.report.writable:
		o.report.names = o.seen.standby
	}
	return o
}
