package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/nccl"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// cut is a case on several GPUs: one of cases, and how its operands and its result are placed.
type cut struct {
	name, of string
	place    map[string]string
	result   string // its name, format and, unless that follows from the cut, placement: "C:CSC over (*, r)"
	feeds    string // the operand of the next run that a result becomes; "": none
}

// by gives each of some operands a placement.
func by(layout string, names ...string) map[string]string {
	place := map[string]string{}
	for _, n := range names {
		place[n] = layout
	}
	return place
}

// and adds operands with another placement.
func and(place map[string]string, layout string, names ...string) map[string]string {
	for _, n := range names {
		place[n] = layout
	}
	return place
}

// cuts lists the cases. In those called chain the result is the next run's operand, so that no run begins before that of all ranks has ended; in others runs follow each other.
// Rows are cut, and values of what the columns touch travel; or, of the second kind, what columns touch is cut along
// its other axis, or everywhere, and nothing travels.
var cuts = func() []cut {
	const rows, columns, everywhere = "over (r)", "over (*, r)", "replicated"
	var list []cut
	for _, m := range []string{"unif", "rmat", "band"} {
		work, result := rows, "over (r)"
		if m == "rmat" { // whose rows differ
			work, result = "over (r by entries)", ""
		}
		if m != "rmat" {
			list = append(list, cut{"spmv-chain/" + m, "spmv/" + m, by(rows, "A", "x"), "y:D over (r)", "x"})
		}
		list = append(list, cut{"spmv/" + m, "spmv/" + m, and(by(work, "A"), rows, "x"), "y:D " + result, ""},
			cut{"spmm128f/" + m, "spmm128f/" + m, and(by(work, "A"), rows, "B"), "C:D-D " + result, ""},
			cut{"spmm128f-columns/" + m, "spmm128f/" + m, and(by(columns, "B"), everywhere, "A"), "C:D-D over (*, r)", ""},
			cut{"sddmm128f/" + m, "sddmm128f/" + m, and(by(work, "A"), rows, "B", "C"), "D:CSR " + result, ""},
			cut{"sddmm128f-copies/" + m, "sddmm128f/" + m, and(by(work, "A"), everywhere, "B", "C"), "D:CSR " + result, ""},
			cut{"add/" + m, "add/" + m, by(work, "A", "B"), "C:CSR " + result, ""},
			cut{"coo-sumrows/" + m, "coo-sumrows/" + m, by(work, "A"), "y:D " + result, ""},
			cut{"coo-sumcols/" + m, "coo-sumcols/" + m, by(work, "A"), "y:D over (r)", ""})
	}
	return append(list, cut{"spgemm/small", "spgemm/small", by(rows, "A", "B"), "C:CSR over (r)", ""},
		cut{"csr-csc/unif", "csr-csc/unif", by(rows, "A"), "C:CSC over (*, r)", ""})
}()

// onRanks measures cases on so many GPUs, and compares results with those of the first number of them. It prints a line for each: the median time of a run of which
// many follow each other, how much of it the first rank's processor works, and the bytes that the fullest rank has sent in one, as it expected and as they were counted on the way.
func onRanks(dir, names, counts string, scale, seconds float64) error {
	for _, c := range cuts {
		if names != "" && !slices.Contains(strings.Split(names, ","), c.name) {
			continue
		}
		args, text, err := c.operands(dir, scale)
		if err != nil {
			return err
		}
		var first *tensor.Tensor
		for _, count := range strings.Split(counts, ",") {
			n, err := strconv.Atoi(count)
			if err != nil {
				return err
			}
			m := &onGPUs{cut: c, text: text, args: args, seconds: seconds}
			if err := m.measure(n); err != nil {
				fmt.Printf("%s gpus %d failed: %v\n", c.name, n, err)
				continue
			}
			if first == nil {
				first = m.out
			} else if err := near(first, m.out); err != nil {
				fmt.Printf("%s gpus %d failed: %v\n", c.name, n, err)
				continue
			}
			fmt.Printf("%s gpus %d ms %.4f host %.4f sent %d counted %d first %.0f by %s\n", c.name, n, ms(median(m.times)), ms(median(m.hosts)), m.sent, m.counted, ms(m.first), m.carrier)
		}
	}
	return nil
}

// operands are those of the case on one GPU.
func (c cut) operands(dir string, scale float64) (map[string]*tensor.Tensor, string, error) {
	all := append(slices.Clone(cases), ofMatrix("band")...)
	b := all[slices.IndexFunc(all, func(b bench) bool { return b.name == c.of })]
	if b.text == "" {
		b.text = "C(i,j) = A(i,j)"
	}
	args, err := b.args(dir, scale)
	return args, b.text, err
}

// onGPUs is a case on a number of GPUs, and what was measured.
type onGPUs struct {
	cut
	text          string
	args          map[string]*tensor.Tensor
	seconds       float64
	out           *tensor.Tensor
	times, hosts  []time.Duration
	first         time.Duration
	sent, counted int64
	carrier       string
}

func (m *onGPUs) measure(n int) error {
	ctx := context.Background()
	devices := make([]int, n)
	for k := range devices {
		devices[k] = k
	}
	groups, err := nccl.Open(ctx, devices...)
	if err != nil {
		return err
	}
	m.carrier = groups[0].Carrier()
	return ranks.Each(ctx, groups, m.on)
}

// on is what one rank does.
func (m *onGPUs) on(ctx context.Context, g *nccl.Group) error {
	engine, err := g.Engine()
	if err != nil {
		return err
	}
	r, err := dist.New(ctx, exec.NewSession(exec.WithEngine(engine), exec.WithResidentResults()), g, nil)
	if err != nil {
		return err
	}
	placed := map[string]*dist.Tensor{}
	for name, t := range m.args {
		l, err := placement.Parse(m.place[name], t.Rank())
		if err != nil {
			return err
		}
		p, err := l.On(r.Grid(), placement.Tensor{Shape: t.Shape(), Weights: func(axis int) ([]int64, error) { return dist.Weights(t, axis) }})
		if err != nil {
			return err
		}
		if placed[name], err = r.Cut(t, p); err != nil {
			return err
		}
	}
	result, o, err := m.options()
	if err != nil {
		return err
	}
	start := time.Now()
	k, err := r.Compile(ctx, m.text, placed, o)
	if err != nil {
		return err
	}
	defer k.Close()
	run := func(last *dist.Tensor) (*dist.Tensor, error) {
		if m.feeds != "" && last != nil {
			placed[m.feeds] = last
		}
		out, err := k.Run(ctx, placed)
		if last != nil {
			last.Part.Release()
		}
		return out[result], err
	}
	out, err := run(nil)
	if err != nil {
		return err
	}
	if err := g.Synchronize(ctx); err != nil {
		return err
	}
	first := time.Since(start)
	whole, err := r.Collect(ctx, out)
	if err != nil {
		return err
	}
	if whole != nil {
		if err := whole.Fetch(); err != nil {
			return err
		}
	}
	before, wire := r.Sent(), total(g)
	if out, err = run(out); err != nil {
		return err
	}
	after := r.Sent()
	mine := [2]int64{after.Total() - before.Total(), total(g) - wire}
	for range 5 {
		if out, err = run(out); err != nil {
			return err
		}
	}
	runtime.Flush()
	// How many runs a batch has, all ranks tell from the longest time that one of them measured.
	var times, hosts []time.Duration
	batch := 1
	for spent := 0.0; len(times) < 7 || spent < m.seconds && len(times) < 100; {
		if err := g.Synchronize(ctx); err != nil {
			return err
		}
		if err := transport.Barrier(ctx, g); err != nil {
			return err
		}
		start := time.Now()
		for range batch {
			if out, err = run(out); err != nil {
				return err
			}
		}
		host := time.Since(start)
		if err := g.Synchronize(ctx); err != nil {
			return err
		}
		if err := transport.Barrier(ctx, g); err != nil {
			return err
		}
		took, err := agreed(ctx, g, time.Since(start))
		if err != nil {
			return err
		}
		spent += took.Seconds()
		if took < 20*time.Millisecond && batch < 64 { // a run among others, not the wait at its end
			batch *= 2
			times, hosts = nil, nil
			continue
		}
		times, hosts = append(times, took/time.Duration(batch)), append(hosts, host/time.Duration(batch))
	}
	sent, err := agreed(ctx, g, time.Duration(mine[0]))
	if err != nil {
		return err
	}
	counted, err := agreed(ctx, g, time.Duration(mine[1]))
	if err != nil || g.Rank() != 0 {
		return err
	}
	slices.Sort(times)
	slices.Sort(hosts)
	m.times, m.hosts, m.first, m.out, m.sent, m.counted = times, hosts, first, whole, int64(sent), int64(counted)
	return nil
}

// agreed is the most of what ranks say.
func agreed(ctx context.Context, g *nccl.Group, mine time.Duration) (time.Duration, error) {
	text := []byte(strconv.FormatInt(int64(mine), 10))
	in, err := g.Exchange(ctx, slices.Repeat([][]byte{text}, g.Size()))
	if err != nil {
		return 0, err
	}
	most := mine
	for _, b := range in {
		n, err := strconv.ParseInt(string(b), 10, 64)
		if err != nil {
			return 0, err
		}
		most = max(most, time.Duration(n))
	}
	return most, nil
}

func total(g *nccl.Group) (n int64) {
	for _, s := range g.Sent() {
		n += s.Bytes
	}
	return n
}

// options are those of the result, and its name.
func (m *onGPUs) options() (string, dist.Options, error) {
	head, layout, _ := strings.Cut(m.result, " ")
	name, format, _ := strings.Cut(head, ":")
	rank := 2
	if name == "y" {
		rank = 1
	}
	r := dist.Result{HasFormat: true}
	var err error
	if r.Format, err = tensor.ParseFormat(format, rank); err != nil {
		return "", dist.Options{}, err
	}
	if layout != "" {
		l, err := placement.Parse(layout, rank)
		if err != nil {
			return "", dist.Options{}, err
		}
		r.Layout = &l
	}
	return name, dist.Options{Results: map[string]dist.Result{name: r}}, nil
}

// near compares two results: sums may have been added in another order.
func near(a, b *tensor.Tensor) error {
	if !tensor.SameStructure(a, b) {
		return fmt.Errorf("the result of several GPUs has other entries: %d and %d", a.NNZ(), b.NNZ())
	}
	if a.DType() == f32 {
		return nearValues(tensor.StoredValues[float32](a), tensor.StoredValues[float32](b))
	}
	return nearValues(tensor.StoredValues[float64](a), tensor.StoredValues[float64](b))
}

func nearValues[T float32 | float64](a, b []T) error {
	for i, x := range a {
		if d := math.Abs(float64(x - b[i])); !(d <= 1e-4*(1+math.Abs(float64(x)))) {
			return fmt.Errorf("value %d is %v, and on several GPUs %v", i, x, b[i])
		}
	}
	return nil
}
