package mpi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// What ranks tell each other beside the messages of calls. A notice is its word, a number and a text.
type word byte

const (
	wordAlive  word = iota // to the next rank, each second: number and kind of the call that the rank waits for, -1: none
	wordFailed             // to all: the rank whose fault it is, and why
	wordLeft               // to all: after how many calls
	wordBye                // to the next rank: nothing comes after this
)

const (
	noticeHead = 1 + 8
	noticeText = 1024

	beat     = time.Second            // between signs of life
	silence  = 6 * time.Second        // after which a rank is taken for lost
	patience = 10 * time.Second       // for what takes no time where all is well
	grace    = 3 * time.Second        // for others to leave a group that has failed
	polite   = 200 * time.Millisecond // for those who tell people why it has failed
	stall    = 5 * time.Second        // for messages to ranks that have all left: nobody takes them
)

// gone is the reason where others wait for a rank that has left.
const gone = "it has left the group, and others wait for it"

// peers is what is known of the other ranks.
type peers struct {
	listening []byte     // where the next notice comes
	left      []int      // after how many calls a rank has left; math.MaxInt: it has not
	lost      int        // the rank that this one has found to be; -1: none
	started   int        // this rank's calls
	kinds     [1024]kind // of the last ones

	heard   time.Duration // since the rank before this one was heard of, while this one was awake
	looked  time.Time     // when that was last counted
	beaten  time.Time     // when the next rank was last told that this one lives
	beating bool          // and that is not sent yet
	untold  int           // notices that are not sent yet, but for signs of life

	leaving  time.Time // when Close was called
	knows    time.Time // since when a group that has failed has nothing more to say to this rank
	alone    time.Time // since when all others have left
	byeSaid  bool
	byeHeard bool
}

func (s *server) before() int { return (s.rank + s.size - 1) % s.size }
func (s *server) next() int   { return (s.rank + 1) % s.size }

// meet begins to listen.
func (s *server) meet() error {
	s.left = slices.Repeat([]int{math.MaxInt}, s.size)
	s.looked, s.lost = time.Now(), -1
	if s.size == 1 {
		return nil
	}
	var err error
	if s.listening, _, err = s.lib.allocate(noticeHead + noticeText); err != nil {
		return err
	}
	return s.listen()
}

// listen waits for a notice of any rank.
func (s *server) listen() error {
	any := uintptr(uint32(s.lib.anySource))
	return s.post(request{true, s.hear}, &s.lib.irecv, address(s.listening), uintptr(len(s.listening)), s.lib.byteType, any, 0, s.control)
}

// hear takes a notice.
func (s *server) hear(o outcome) error {
	if o.err != nil {
		return o.err
	}
	if o.bytes < noticeHead {
		return fmt.Errorf("rank %d sends notices of another version", o.source)
	}
	number := int(int64(binary.LittleEndian.Uint64(s.listening[1:])))
	text := string(s.listening[noticeHead:o.bytes])
	if o.source == s.before() {
		s.heard = 0
	}
	var err error
	switch word(s.listening[0]) {
	case wordAlive:
		if number >= 0 && len(text) == 1 {
			err = s.compare(o.source, number, kind(text[0]))
		}
	case wordFailed:
		s.told[o.source] = text
		s.fail(&transport.Error{Rank: number, Reason: text})
	case wordLeft:
		s.left[o.source] = number
		if slices.ContainsFunc(s.pending, func(op *operation) bool { return op.call >= number }) {
			err = &transport.Error{Rank: o.source, Reason: gone}
		}
	case wordBye:
		s.byeHeard = true
	}
	if s.byeHeard && s.allLeft() {
		return err // nobody has anything to say any more
	}
	return errors.Join(err, s.listen())
}

// compare finds ranks that are in different calls, which would wait for each other for ever.
func (s *server) compare(other, call int, theirs kind) error {
	if call >= s.started || call < s.started-len(s.kinds) || int(theirs) >= len(kindNames) {
		return nil
	}
	if mine := s.kinds[call%len(s.kinds)]; mine != theirs {
		return different(other, theirs, s.rank, mine)
	}
	return nil
}

// tell sends a notice, and calls sent when it has gone.
func (s *server) tell(to int, w word, number int, text string, sent func()) error {
	text = text[:min(len(text), noticeText)]
	b, base, err := s.lib.allocate(noticeHead + len(text))
	if err != nil {
		return err
	}
	b[0] = byte(w)
	binary.LittleEndian.PutUint64(b[1:], uint64(number))
	copy(b[noticeHead:], text)
	return s.post(request{done: func(o outcome) error {
		sent()
		s.free(base)
		return nil // who does not hear is lost, which is noticed otherwise
	}}, &s.lib.isend, address(b), uintptr(len(b)), s.lib.byteType, uintptr(to), 0, s.control)
}

// tellAll sends a notice to all other ranks, and closes told when it has gone.
func (s *server) tellAll(w word, number int, text string, told chan<- struct{}) {
	left := 1
	sent := func() {
		if left--; left == 0 && told != nil {
			close(told)
		}
	}
	for r := range s.size {
		if r == s.rank || r == s.lost {
			continue
		}
		left++
		s.untold++
		if err := s.tell(r, w, number, text, func() { s.untold--; sent() }); err != nil {
			left--
			s.untold--
		}
	}
	sent()
}

// tellFailure tells the others what is wrong.
func (s *server) tellFailure(e *transport.Error, told chan<- struct{}) {
	s.tellAll(wordFailed, e.Rank, e.Reason, told)
}

// giveUp ends the group because of an error on this rank.
func (s *server) giveUp(err error) {
	var e *transport.Error
	if !errors.As(err, &e) {
		e = &transport.Error{Rank: s.rank, Reason: err.Error()}
	}
	if s.failure() == nil && s.own.CompareAndSwap(nil, e) {
		s.fail(e)
		s.tellFailure(e, nil)
	}
}

// leave tells the others that this rank makes no more calls.
func (s *server) leave(calls int) {
	s.leaving = time.Now()
	s.left[s.rank] = calls
	s.tellAll(wordLeft, calls, "", nil)
}

func (s *server) allLeft() bool { return !slices.Contains(s.left, math.MaxInt) }

// watch gives the next rank a sign of life, and counts how long that of the rank before is missing.
func (s *server) watch(now time.Time) {
	// While this process is stopped as a whole nobody is to blame.
	s.heard += min(now.Sub(s.looked), beat/4)
	s.looked = now
	if s.size == 1 || s.failure() != nil || s.byeSaid {
		return
	}
	if s.heard > silence {
		s.lost = s.before()
		s.left[s.lost] = 0 // nobody waits for it any more
		s.giveUp(&transport.Error{Rank: s.lost, Reason: fmt.Sprintf("it has given no sign of life for %v", silence)})
		return
	}
	if len(s.pending) == 0 || slices.ContainsFunc(s.othersLeft(), func(n int) bool { return n == math.MaxInt }) {
		s.alone = now
	} else if now.Sub(s.alone) > stall {
		s.giveUp(fmt.Errorf("it sends in %s what no other rank expects", kindNames[s.pending[0].kind]))
		return
	}
	if s.beating || now.Sub(s.beaten) < beat {
		return
	}
	s.beaten, s.beating = now, true
	call, doing := -1, ""
	if len(s.pending) > 0 {
		call, doing = s.pending[0].call, string([]byte{byte(s.pending[0].kind)})
	}
	if err := s.tell(s.next(), wordAlive, call, doing, func() { s.beating = false }); err != nil {
		s.giveUp(err)
	}
}

// othersLeft is what is known of ranks but this one.
func (s *server) othersLeft() []int {
	return slices.Concat(s.left[:s.rank], s.left[s.rank+1:])
}

// finished reports whether this rank has left, and waits for nothing.
func (s *server) finished(now time.Time) bool {
	switch {
	case s.leaving.IsZero():
		return false
	case s.failure() != nil:
		// Who ends first takes the others with it: let them say why, and first of all those who tell people.
		if s.untold > 0 || !s.allLeft() {
			return now.Sub(s.leaving) > grace
		}
		if s.knows.IsZero() {
			s.knows = now
		}
		return s.Reports() || now.Sub(s.knows) > polite
	case !s.allLeft():
		return false
	case s.size > 1 && !s.byeSaid:
		s.byeSaid = true
		if err := s.tell(s.next(), wordBye, 0, "", func() {}); err != nil {
			s.giveUp(err)
		}
		return false
	case s.size > 1 && !s.byeHeard || len(s.list) > 0:
		return false
	}
	return true
}
