package file

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

const (
	blockSize = 512 << 10 // bytes of text that one parser takes at a time

	// Blocks parsed on the calling goroutine before others are started: below
	// two MiB or so, starting them costs more than they bring.
	soloBlocks = 4
)

var errLongLine = errors.New("a line is longer than 512 KiB: this is not a text file of this kind")

// lineBlocks cuts a stream into blocks of whole lines.
type lineBlocks struct {
	r     io.Reader
	carry []byte // the start of a line that the last block could not hold in full
	err   error
}

// next returns the next block in buf (grown where needed). Every block ends in a
// newline; the last one is given one if the file lacks it. io.EOF ends the stream.
func (l *lineBlocks) next(buf []byte) ([]byte, error) {
	if l.err != nil {
		return nil, l.err
	}
	if cap(buf) < blockSize {
		buf = make([]byte, 0, blockSize)
	}
	buf = append(buf[:0], l.carry...)
	l.carry = l.carry[:0]
	n, err := fill(l.r, buf[len(buf):blockSize-1]) // one byte is kept for a final newline
	buf = buf[:len(buf)+n]
	if err == io.EOF {
		l.err = io.EOF
		if len(buf) == 0 {
			return nil, io.EOF
		}
		if buf[len(buf)-1] != '\n' {
			buf = append(buf, '\n')
		}
		return buf, nil
	}
	if err != nil {
		l.err = err
		return nil, err
	}
	cut := bytes.LastIndexByte(buf, '\n') + 1
	if cut == 0 {
		l.err = errLongLine
		return nil, l.err
	}
	l.carry = append(l.carry, buf[cut:]...)
	return buf[:cut], nil
}

// fill reads until buf is full or the stream ends; io.EOF says that it has ended as it
// should. Not io.ReadFull: that reports the end by the error with which compressed
// streams report that they are cut short.
func fill(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var some int
		some, err = r.Read(buf[n:])
		n += some
	}
	if n == len(buf) {
		return n, nil // a reader that has an error keeps it
	}
	return n, err
}

// batch is one block of text and what a parser made of it.
type batch struct {
	data    []byte
	limit   int        // stop with an error at the entry after this many
	lines   int        // lines in data
	entries int        // entries in the text
	stored  int        // entries made of them: more where a symmetric matrix is expanded
	coords  [][]int64  // per axis, stored long
	words   []uint64   // value bits, one or two words for each stored entry
	err     *lineError // the first complaint; the counts then hold only up to it

	parsed chan struct{} // receives when a worker is done with the batch
}

// noLimit is a batch limit that no block reaches.
const noLimit = int(^uint(0) >> 1)

// fail records a complaint about a line of the block.
func (b *batch) fail(line int, msg string) { b.err = &lineError{line, msg} }

// blockJob says how to read a text: parse makes a batch of a block and may run on
// several goroutines at once; merge sees every batch once, in file order, on the
// calling goroutine.
type blockJob struct {
	lines   *lineBlocks
	threads int
	parse   func(*batch)
	merge   func(*batch) error
}

// run reads the text to its end or to the first error in file order.
func (j *blockJob) run() error {
	b := &batch{}
	for i := 0; i < soloBlocks || j.threads == 1; i++ {
		data, err := j.lines.next(b.data)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		b.data = data
		b.reset()
		j.parse(b)
		if err := j.merge(b); err != nil {
			return err
		}
	}
	return j.runParallel()
}

// reset empties a batch but for its text and its memory.
func (b *batch) reset() {
	b.limit, b.lines, b.entries, b.stored, b.err = noLimit, 0, 0, 0, nil
}

// runParallel reads on one goroutine, parses on threads others, and merges here.
// A fixed number of batches goes round, which bounds the memory in flight; the
// channels hold them all, so that only the wait for a free batch can block.
func (j *blockJob) runParallel() error {
	inFlight := 2*j.threads + 1
	var (
		free    = make(chan *batch, inFlight)
		jobs    = make(chan *batch, inFlight)
		order   = make(chan *batch, inFlight)
		stop    = make(chan struct{})
		readErr error // written before order is closed, read after
		wg      sync.WaitGroup
	)
	for range inFlight {
		free <- &batch{parsed: make(chan struct{}, 1)}
	}
	wg.Go(func() {
		defer close(order)
		defer close(jobs)
		for {
			select {
			case <-stop:
				return
			case b := <-free:
				data, err := j.lines.next(b.data)
				if err != nil {
					readErr = err
					return
				}
				b.data = data
				order <- b
				jobs <- b
			}
		}
	})
	for range j.threads {
		wg.Go(func() {
			for b := range jobs {
				b.reset()
				j.parse(b)
				b.parsed <- struct{}{}
			}
		})
	}
	var mergeErr error
	for b := range order {
		<-b.parsed
		if mergeErr != nil {
			continue
		}
		if mergeErr = j.merge(b); mergeErr != nil {
			close(stop)
			continue
		}
		free <- b
	}
	wg.Wait() // nothing of ours may still read from the caller's file
	switch {
	case mergeErr != nil:
		return mergeErr
	case readErr != io.EOF:
		return readErr
	}
	return nil
}
