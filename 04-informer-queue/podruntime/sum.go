package podruntime

import "time"

// life is when a pod began to run and when it ended, in seconds since 1970, as
// the API has its times. 0 means: not yet.
type life struct {
	start, end int64
}

// sum is for how long many pods have been running, all together. A sum over the
// pods would be
//
//	(now - start) + (now - start) + ...  of those that run
//	+ (end - start) + (end - start) + ...  of those that ended
//
// and three numbers are enough to know it at any time:
//
//	running * now - starts + ended
//
// A pod that changes takes its old part out of them and puts its new one in.
// That costs the same however many pods there are.
type sum struct {
	pods    int   // all, with those that have not begun to run
	running int64 // how many run
	starts  int64 // when those began, added up
	ended   int64 // for how long the others ran
}

func (s *sum) add(l life)    { s.count(l, 1) }
func (s *sum) remove(l life) { s.count(l, -1) }

func (s *sum) count(l life, sign int64) {
	s.pods += int(sign)
	switch {
	case l.start == 0:
	case l.end == 0:
		s.running += sign
		s.starts += sign * l.start
	default:
		s.ended += sign * (l.end - l.start)
	}
}

// seconds is the sum at that time. A time.Duration would not hold it: a hundred
// thousand pods run for its 292 years in one day.
func (s *sum) seconds(now time.Time) float64 {
	whole := s.running*now.Unix() - s.starts + s.ended
	return float64(whole) + float64(s.running)*float64(now.Nanosecond())/1e9
}
