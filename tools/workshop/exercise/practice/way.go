package practice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/curriculum"
	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/lesson"
	"example.com/hacking-a-controller/tools/workshop/track"
)

// A way is the track that a session follows, without its pauses.
type way struct {
	title string
	stops []track.Stop
	at    int // the stop where the learner is
	facts track.Facts
}

// take makes a track the learner's. After another one it begins at its beginning, whatever exercise is
// current.
func (p practice) take(name string) error {
	if name == "" {
		return nil
	}
	tracks, err := track.Load(p.home)
	if err != nil {
		return err
	}
	if _, err := tracks.Track(name); err != nil {
		return err
	}
	return p.update(func(progress *Progress) {
		if progress.Track != name {
			progress.Track, progress.Item, progress.Reading = name, "", progress.Track != ""
		}
	})
}

// from makes a lesson or a stage the place where the learner goes on: the first stop of the track at
// which it is read. Without a track, it is the one with everything.
func (p practice) from(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	lessons, err := p.lessons()
	if err != nil {
		return err
	}
	l, err := lessonNamed(name, lessons)
	within := l.Folder()
	if i := slices.IndexFunc(lessons, func(l lesson.Lesson) bool { return strconv.Itoa(l.Stage.Number) == strings.TrimLeft(name, "0") }); i >= 0 {
		within, err = lessons[i].Stage.Folder, nil
	}
	if err != nil {
		return err
	}
	tracks, err := track.Load(p.home)
	if err != nil {
		return err
	}
	progress, err := p.progress(ctx)
	if err != nil {
		return err
	}
	t, err := tracks.Track(cmp.Or(progress.Track, track.Deep))
	if err != nil {
		return err
	}
	at := slices.IndexFunc(t.Items, func(item track.Item) bool {
		return item.Kind == track.Read && (item.Name == within || item.In() == within)
	})
	if at < 0 {
		return fmt.Errorf("%s is not on the way %q; every lesson is on that of make learn TRACK=%s FROM=%s", name, t.Name, track.Deep, name)
	}
	return p.update(func(progress *Progress) {
		progress.Track, progress.Item, progress.Reading = t.Name, t.Items[at].Text, true
	})
}

// onTrack returns the exercises of the learner's track, in its order; without one, all.
func (p practice) onTrack(progress Progress) ([]exercise.Exercise, error) {
	all, _, err := exercise.All(p.home)
	if err != nil {
		return nil, err
	}
	tracks, err := track.Load(p.home)
	if err != nil {
		return nil, err
	}
	t, err := tracks.Track(progress.Track)
	if err != nil {
		return all, nil // none, or one of another version
	}
	var some []exercise.Exercise
	for _, item := range t.Items {
		if i := slices.IndexFunc(all, func(e exercise.Exercise) bool { return e.Key() == item.Name }); i >= 0 && item.Kind == track.Exercise {
			some = append(some, all[i])
		}
	}
	return some, nil
}

// chooseWay takes the learner's track, and asks for it if there is none yet.
func (s *session) chooseWay(ctx context.Context) error {
	tracks, err := track.Load(s.home)
	if err != nil || len(tracks.Tracks) == 0 {
		return err
	}
	facts, err := curriculum.Facts(s.home, tracks)
	if err != nil {
		return err
	}
	progress, err := s.progress(ctx)
	if err != nil {
		return err
	}
	t, err := tracks.Track(progress.Track)
	if err != nil {
		if t, err = s.askForTrack(ctx, tracks, facts); err != nil || s.quits {
			return err
		}
		if err := s.take(t.Name); err != nil {
			return err
		}
	}
	s.way = way{title: t.Title, facts: facts}
	s.way.stops = slices.DeleteFunc(tracks.Stops(t, facts), func(stop track.Stop) bool { return stop.Pause() })
	s.way.at = max(0, slices.IndexFunc(s.way.stops, func(stop track.Stop) bool { return stop.Text == progress.Item }))
	return nil
}

func (s *session) askForTrack(ctx context.Context, tracks track.Curriculum, facts track.Facts) (track.Track, error) {
	s.printf("How much time do you have?")
	offered := tracks.Offered(facts)
	for i, t := range offered {
		s.printf("  %d  %s (%s without breaks)", i+1, t.Title, track.Hours(tracks.Together(t, facts)))
	}
	for {
		key, err := s.nextKey(ctx)
		if err != nil || s.quits {
			return track.Track{}, err
		}
		if i := int(key - '1'); i >= 0 && i < len(offered) {
			s.printf("To choose another way later: make learn TRACK=%s", offered[len(offered)-1].Name)
			return offered[i], nil
		}
		s.printf("Press a number from 1 to %d, or q to quit.", len(offered))
	}
}

// nextKey waits for a key. The learner quits with q, and by closing the input.
func (s *session) nextKey(ctx context.Context) (rune, error) {
	key, open := s.answer(ctx)
	s.quits = ctx.Err() == nil && (!open || key == 'q')
	return key, ctx.Err()
}

// follow goes along the track, from where the learner is, and returns the next exercise that isn't
// solved. The lessons on the way are read. After the last one come exercises that were left out.
func (s *session) follow(ctx context.Context, e exercise.Exercise) (next exercise.Exercise, ok bool, err error) {
	progress, err := s.progress(ctx)
	if err != nil {
		return next, false, err
	}
	exercises, err := s.onTrack(progress)
	if err != nil {
		return next, false, err
	}
	i := s.way.at
	if s.way.index(e) == i && !s.back {
		i++
	}
	for ; i < len(s.way.stops); i++ {
		again := s.back
		if s.back = false; again {
			i = s.way.pageBefore(i)
		}
		stop := s.way.stops[i]
		next, open, err := s.open(ctx, stop, exercises)
		if err != nil {
			return next, false, err
		}
		if !open && !again {
			continue
		}
		s.way.at = i
		if err := s.update(func(progress *Progress) {
			progress.Item, progress.Reading = stop.Text, stop.Kind == track.Read
		}); err != nil {
			return next, false, err
		}
		if stop.Kind != track.Read {
			return next, true, nil
		}
		if err := s.read(ctx, stop); err != nil || s.quits {
			return exercise.Exercise{}, false, err
		}
		if s.back {
			i-- // the loop looks at this stop again, and goes back from it
		}
	}
	next, ok = s.next(ctx, e)
	s.way.at = cmp.Or(max(0, s.way.index(next)), s.way.at)
	return next, ok, nil
}

// pageBefore is the page that is read before a stop. Before the first page there is none.
func (w way) pageBefore(i int) int {
	for j := i - 1; j >= 0; j-- {
		if w.stops[j].Kind == track.Read {
			return j
		}
	}
	return i
}

func (w way) index(e exercise.Exercise) int {
	return slices.IndexFunc(w.stops, func(stop track.Stop) bool { return stop.Kind == track.Exercise && stop.Name == e.Key() })
}

// open says whether there is something left to do at a stop, and which of the exercises it is.
func (s *session) open(ctx context.Context, stop track.Stop, exercises []exercise.Exercise) (e exercise.Exercise, open bool, err error) {
	progress, err := s.progress(ctx)
	if err != nil {
		return e, false, err
	}
	switch stop.Kind {
	case track.Read:
		l, err := s.lessonIn(stop.Name)
		_, left := progress.nextAt(l, stop)
		return e, len(l.Steps) == 0 || left, err
	case track.Exercise:
		i := slices.IndexFunc(exercises, func(e exercise.Exercise) bool { return e.Key() == stop.Name })
		if i < 0 {
			return e, false, nil
		}
		return exercises[i], progress.of(exercises[i].ID()).Solved.IsZero(), nil
	}
	return e, false, nil
}

// listWay shows the stops of the track, and where the learner is.
func (s *session) listWay() {
	s.printf("\n%s", s.way.title)
	for i, stop := range s.way.stops {
		mark := " "
		if i == s.way.at {
			mark = "*"
		}
		s.printf("%s %2d  %s (%s)", mark, i+1, s.way.name(stop), about(stop))
	}
	s.printf("\nAll exercises: %s\n%s", s.command("list"), readingHelp)
}

// name is what the learner calls a stop.
func (w way) name(stop track.Stop) string {
	return w.facts.Name(stop, func(_, label string) string { return label })
}

// about says how long a stop takes, and whether it has to be.
func about(stop track.Stop) string {
	text := "about " + number(stop.Minutes, "minute", "minutes")
	if stop.Trying > 0 {
		text += fmt.Sprintf(", %d of them for tries", stop.Trying)
	}
	if stop.May {
		text += ", optional"
	}
	return text
}

// nextAt returns the first step of a stop that is not done. An empty stop has all steps of the lesson.
func (p Progress) nextAt(l lesson.Lesson, stop track.Stop) (lesson.Step, bool) {
	for _, step := range l.Steps {
		if stop.Has(step.Number) && !slices.Contains(p.Steps[lessonName(l)], step.Number) {
			return step, true
		}
	}
	return lesson.Step{}, false
}

const readingHelp = "c check the next step   t next try   n go on   b go back   o open in $EDITOR   l list   q quit"

// read leads through steps of a lesson, until they are done or the learner goes on.
func (s *session) read(ctx context.Context, stop track.Stop) error {
	l, err := s.lessonIn(stop.Name)
	if err != nil {
		return err
	}
	page := s.home.Path(stop.Name)
	if stop.Name != curriculum.Start {
		page = s.home.Path(stop.Name, "README.md")
	}
	s.printf("\n[%s, %d of %d] %s (%s)\n  read      %s\n\n%s", s.way.title, s.way.at+1, len(s.way.stops), s.way.name(stop), about(stop), s.path(page), readingHelp)
	if s.tries {
		s.tries = false
		if err := s.nextTry(ctx, l, stop); err != nil {
			s.printf("%v", err)
		}
	}
	for !s.quits {
		key, err := s.nextKey(ctx)
		if s.back = key == 'b'; err != nil || s.quits || s.back || key == 'n' {
			return err
		}
		switch done, err := s.readingKey(ctx, key, l, stop, page); {
		case err != nil && !errors.Is(err, ErrNotYet):
			s.printf("%v", err)
		case done:
			return nil
		}
	}
	return nil
}

// readingKey does what a key says, and says whether all steps are done.
func (s *session) readingKey(ctx context.Context, key rune, l lesson.Lesson, stop track.Stop, page string) (done bool, err error) {
	switch key {
	case 'c':
		progress, err := s.progress(ctx)
		if err != nil {
			return false, err
		}
		step, ok := progress.nextAt(l, stop)
		if !ok {
			return false, fmt.Errorf("%s has no step left to check; n goes on", path.Base(page))
		}
		if err := s.checkStep(ctx, l, step); err != nil {
			return false, err
		}
		if progress, err = s.progress(ctx); err != nil {
			return false, err
		}
		_, left := progress.nextAt(l, stop)
		if left = left || s.triesLeft(progress, l, stop); left {
			s.printf("\n%s", readingHelp)
		}
		return !left, nil
	case 't':
		return false, s.nextTry(ctx, l, stop)
	case 'o':
		return false, s.openFiles(ctx, page)
	case 'l':
		s.listWay()
		return false, nil
	default:
		s.printf("%s", readingHelp)
		return false, nil
	}
}
