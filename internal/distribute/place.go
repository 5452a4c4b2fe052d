package distribute

import (
	"github.com/lacuna-sparse/lacuna/tensor"
)

// place reads bucket after bucket and puts entries to their places in the result.
func (d *turning[V]) place(format tensor.Format) (*tensor.Tensor, error) {
	d.wide = uint64(d.entries) > 1<<32-1
	posType, posWidth := tensor.Uint32, 4
	if d.wide {
		posType, posWidth = tensor.Uint64, 8
	}
	pos, posBytes, err := result(d.files, posType, d.minors()+1)
	if err != nil {
		return nil, err
	}
	crd, crdBytes, err := result(d.files, tensor.Uint32, d.entries)
	if err != nil {
		return nil, err
	}
	values, valueBytes, err := result(d.files, d.t.DType(), d.entries)
	if err != nil {
		return nil, err
	}
	d.pos, d.crd, d.values = posBytes, crdBytes, valueBytes
	// The next bucket is read while one is placed, and that is written while the next is placed.
	read, places := make(chan error, 1), make(chan error, 1)
	most, room := 0, 0
	for _, b := range d.buckets {
		most, room = max(most, b.total), max(room, len(b.chunks)*d.chunk*(record+d.width))
	}
	input, next := aligned(room), aligned(room)
	places <- nil
	fetch := func(k int) {
		b := &d.buckets[k]
		read <- d.load(b, &next)
	}
	go fetch(0)
	var out [2]output
	for k := range out {
		out[k].crd, out[k].values = aligned(most*4), aligned(most*d.width)
	}
	done := 0 // entries
	for k := range d.buckets {
		err := <-read
		input, next = next, input
		if err == nil {
			err = d.ctx.Err()
		}
		if err != nil {
			<-places
			return nil, err
		}
		if k+1 < len(d.buckets) {
			go fetch(k + 1)
		}
		o, at := &out[k%2], done
		d.count(k, input, o, done, posWidth)
		o.values = grow(o.values, d.buckets[k].total*d.width)
		o.crd = grow(o.crd, d.buckets[k].total*4)
		d.scatter(k, input, o)
		if err := <-places; err != nil {
			if k+1 < len(d.buckets) {
				<-read
			}
			return nil, err
		}
		go func() { places <- d.write(o, d.bounds[k], at, posWidth) }()
		done += d.buckets[k].total
	}
	if err := <-places; err != nil {
		return nil, err
	}
	return tensor.NewTrusted(d.t.Shape(), format, []tensor.Level{{}, {Pos: pos, Crd: crd}}, values, d.t.Fill()), nil
}

// output is the part of the result that a bucket makes.
type output struct {
	next             []int  // by minor, where its next entry goes
	pos, crd, values []byte // pos: of the ends of the bucket's minors
}

// grow returns a slice of n bytes, with what it had before or not.
func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return aligned(n)
	}
	return b[:n]
}

// load reads the chunks of a bucket.
func (d *turning[V]) load(b *bucket[V], to *[]byte) error {
	size := d.chunk * (record + d.width)
	*to = grow(*to, len(b.chunks)*size)
	for k, c := range b.chunks {
		if _, err := d.temp.ReadAt((*to)[k*size:(k+1)*size], c.at); err != nil {
			return err
		}
	}
	return nil
}

// each calls f for the chunks of a bucket.
func (d *turning[V]) each(k int, input []byte, f func(minors, majors []uint32, values []V)) {
	size := d.chunk * (record + d.width)
	for i, c := range d.buckets[k].chunks {
		minors, majors, values := d.split(input[i*size:])
		f(minors[:c.entries], majors[:c.entries], values[:c.entries])
	}
}

// count finds where the entries of each minor begin.
func (d *turning[V]) count(k int, input []byte, o *output, done, posWidth int) {
	n := d.bounds[k+1] - d.bounds[k]
	if cap(o.next) < n+1 {
		o.next = make([]int, n+1)
	}
	o.next = o.next[:n+1]
	clear(o.next)
	d.each(k, input, func(minors, _ []uint32, _ []V) {
		for _, x := range minors {
			o.next[x+1]++
		}
	})
	o.pos = grow(o.pos, n*posWidth)
	for x := range n {
		o.next[x+1] += o.next[x]
		if d.wide {
			view[uint64](o.pos, n)[x] = uint64(done + o.next[x+1])
		} else {
			view[uint32](o.pos, n)[x] = uint32(done + o.next[x+1])
		}
	}
}

// scatter puts entries to their places.
func (d *turning[V]) scatter(k int, input []byte, o *output) {
	crd, all := view[uint32](o.crd, len(o.crd)/4), view[V](o.values, d.buckets[k].total)
	d.each(k, input, func(minors, majors []uint32, values []V) {
		for i, x := range minors {
			p := o.next[x]
			o.next[x] = p + 1
			crd[p], all[p] = majors[i], values[i]
		}
	})
}

// write writes a part of the result: of minors and entries from the given on.
func (d *turning[V]) write(o *output, minor, done, posWidth int) error {
	if err := d.files.WriteAt(d.pos, (minor+1)*posWidth, o.pos); err != nil {
		return err
	}
	if err := d.files.WriteAt(d.crd, 4*done, o.crd); err != nil {
		return err
	}
	return d.files.WriteAt(d.values, d.width*done, o.values)
}
