package behaviour

import (
	"context"

	"go.uber.org/goleak"

	"example.com/hacking-a-controller/testcluster"
)

// outage are cases that no other can run beside.
var outage = map[string]testCase{
	"the server is away in the moment that an At is due": func(s *env) {
		proxy, config := testcluster.StartProxy(s.t, s.suite.config)
		o := s.start(as(config))
		s.create("kettle", "11:00:00")
		o.sleepsUntil("11:00:00")
		o.requests.reset()
		proxy.Refuse()
		s.suite.cluster.KillServer(s.t)
		s.jump("11:00:00")
		s.eventually("attempts to write the status", func(context.Context) (any, bool) {
			attempts := o.requests.about("kettle")
			return attempts, len(attempts) > 1
		})
		proxy.Allow()
		s.runs("kettle")
		s.ends("kettle-pod", 0)
		s.becomes("kettle", succeeded)
		s.ran("kettle")
	},

	"an operator that is stopped leaves nothing behind": func(s *env) {
		proxy, config := testcluster.StartProxy(s.t, s.suite.config)
		s.ran() // the log of pods has begun
		before := goleak.IgnoreCurrent()
		o := s.start(as(config), workers(2))
		s.create("anchor", "23:00:00")
		o.sleepsUntil("23:00:00")
		s.create("kettle", "09:00:00")
		s.runs("kettle")
		o.stop()
		proxy.Cut()
		s.eventually("all goroutines to end", func(context.Context) (any, bool) {
			err := goleak.Find(before)
			return err, err == nil
		})
	},
}
