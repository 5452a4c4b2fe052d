package difftest

import (
	"context"
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file runs programs that other systems are measured by, in mixes of formats.

// peerPrograms are expressions that other sparse compilers get wrong, refuse or
// crash on: dropped or repeated summands, missing reductions, cycles of storage
// orders, scatters into appended levels, repeated indices, unions of many.
var peerPrograms = []string{
	"R(i) = A(i,j)*x(j) + z(i) + w(i)",
	"R(i) = (A(i,j) + B(i,j)) * x(j)",
	"R(i) = w(i) * (A(i,j)*x(j) + z(i))",
	"R(i,k) = M(i,k) * (A(i,j)*B(j,k) + c(k))",
	"R(i,j) = A(i,k)*B(k,j)",
	"R(i,j) = A(i,k)*B(k,j) + C(i,j)",
	"R(j,i) = A(i,j)",
	"R(i,j) = A(i,j) + B(j,i)",
	"R(i,j) = A(j,i) + A(i,j)",
	"R(i,j,k) = T(i,j,k) + U(k,i,j)",
	"R(i,j) = A(i,j) * (B(i,k)*C(k,j))",
	"R(i,j) = A(i,j)*B(i,k)*C(k,j)",
	"R(i,r) = T(i,j,k)*B(j,r)*C(k,r)",
	"R(i,j,l) = T(i,j,k)*B(k,l)",
	"R(j,k) = T(i,j,k)*c(i)",
	"R(j) = A(i,j)",
	"R(k,l) = T(i,j,k)*U(i,j,l)",
	"R(i,j) = A(i,k)*B(k,l)*C(l,j)",
	"R(i,j) = A(k,i)*B(k,j)",
	"R(i,j) = A(k,i)*A(k,j)",
	"R(i) = A(i,i)",
	"R(i,i) = x(i)",
	"R(i) = A(i,j)*A(j,i)",
	"R(i,j,k,l) = A(i,j)*B(k,l)",
	"R(i) = a(i) + b(i) + c(i) + d(i) + e(i) + f(i) + g(i)",
	"R(i,j) = A(i,j) + B(i,j) + C(i,j) + D(i,j)",
	"R(i) = a(i)*b(i) + c(i)*d(i) + e(i)",
	"R(i) = (a(i) + b(i)) * (c(i) + d(i))",
	"R(i) = a(i) - b(i)",
	"R(i) = min(a(i), b(i)) + max(a(i), b(i))",
	"R = A(i,j)*B(i,j)",
	"R = T(i,j,k)*T(i,j,k)",
	"R(i) = x(i) + s",
	"R(i,j) = where(A(i,j) != 0, B(i,k)*C(k,j), 0)",
	"R(i) = max_j (A(i,j) + x(j))",
	"R(i) = min_j (A(i,j) * x(j)) + sum_j A(i,j)",
	"R(i) = norm_j A(i,j) + count_j A(i,j)",
	"R(i,j) = i*A(i,j) + j",
	"R(i,j) = where(j >= i, A(i,j), 0)",
	"R(i) = sum_k x(i+k-1)*w(k)",
	"R(i) = x(2*i) + x(2*i+1)",
}

// TestPeerPrograms runs each of these on operands and results in every mix of a
// dense, a row-major, a column-major, a doubly compressed and a coordinate
// format (a random sample of the mixes where there are many).
func TestPeerPrograms(t *testing.T) {
	s := sessions(t, setting{})
	for n, text := range peerPrograms {
		t.Run(text, func(t *testing.T) {
			testengine.Parallel(t)
			r := rand.New(rand.NewSource(int64(n)))
			for trial := 0; trial < 24; trial++ {
				c := peerCase(t, r, text)
				run := s[:1]
				if trial%12 == 0 {
					run = s // machine code for some: each costs a compilation
				}
				if _, err := c.Compare(context.Background(), run...); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestSpGEMMFormats runs matrix multiplication in all 125 mixes of five formats.
func TestSpGEMMFormats(t *testing.T) {
	s := sessions(t, setting{grain: 2})[:1]
	r := rand.New(rand.NewSource(1))
	all := []tensor.Format{tensor.Dense(2), tensor.CSR, tensor.CSC, tensor.DCSR, tensor.COO}
	var cases []*Case
	for _, out := range all {
		for _, fa := range all {
			for _, fb := range all {
				cases = append(cases, &Case{Text: "R(i,j) = A(i,k)*B(k,j)",
					Results: map[string]Result{"R": {Shape: []int64{4, 5}, Format: out, HasFormat: true}},
					Operands: map[string]*tensor.Tensor{
						"A": peerTensor(t, r, []int64{4, 3}, fa), "B": peerTensor(t, r, []int64{3, 5}, fb),
					}})
			}
		}
	}
	errs := make([]error, len(cases))
	testengine.Each(len(cases), func(i int) bool {
		_, errs[i] = cases[i].Compare(context.Background(), s...)
		return errs[i] == nil
	})
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// peerCase gives a program random operands: every index has extent 4, letters
// tell ranks: T and U are of rank 3, upper case of rank 2, s of rank 0.
func peerCase(t *testing.T, r *rand.Rand, text string) *Case {
	c := &Case{Text: text, Operands: map[string]*tensor.Tensor{}}
	names := map[string]bool{}
	for i := 0; i+1 < len(text); i++ {
		letter := text[i] >= 'a' && text[i] <= 'z' || text[i] >= 'A' && text[i] <= 'Z'
		before := i == 0 || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ", rune(text[i-1]))
		if letter && before && text[i+1] == '(' {
			names[text[i:i+1]] = true
		}
	}
	if strings.HasSuffix(text, "+ s") {
		names["s"] = true
	}
	delete(names, "R")
	var list []string
	for name := range names {
		list = append(list, name)
	}
	sort.Strings(list)
	for _, name := range list {
		rank := 1
		switch {
		case name == "T" || name == "U":
			rank = 3
		case name == "s":
			rank = 0
		case name < "a":
			rank = 2
		}
		shape := []int64{4, 4, 4}[:rank]
		if name == "x" && strings.Contains(text, "2*i") {
			shape = []int64{8}
		}
		if rank == 0 {
			c.Operands[name] = tensor.ScalarTensor(tensor.Float(tensor.Float64, 3))
			continue
		}
		c.Operands[name] = peerTensor(t, r, shape, peerFormat(r, rank))
	}
	rank := 0
	if strings.HasPrefix(text, "R(") {
		rank = strings.Count(text[:strings.Index(text, ")")], ",") + 1
	}
	d := Result{Shape: []int64{4, 4, 4, 4}[:rank]}
	if rank > 0 {
		d.Format, d.HasFormat = peerFormat(r, rank), true
	}
	c.Results = map[string]Result{"R": d}
	return c
}

func peerFormat(r *rand.Rand, rank int) tensor.Format {
	formats := []tensor.Format{tensor.Dense(rank), tensor.CSF(rank), tensor.Coordinates(rank)}
	if rank == 2 {
		formats = append(formats, tensor.CSR, tensor.CSC, tensor.DCSC)
	}
	if rank == 3 {
		for _, s := range []string{"C-C-S", "C-DC-S", "DC-C-S", "S-S-D", "DC-DC-S[2,1,0]", "C-S-S[1,0,2]"} {
			f, err := tensor.ParseFormat(s, 3)
			if err != nil {
				panic(err)
			}
			formats = append(formats, f)
		}
	}
	return formats[r.Intn(len(formats))]
}

func peerTensor(t *testing.T, r *rand.Rand, shape []int64, f tensor.Format) *tensor.Tensor {
	size := int64(1)
	for _, n := range shape {
		size *= n
	}
	vals := make([]float64, size)
	for i := range vals {
		if r.Intn(3) == 0 {
			vals[i] = float64(r.Intn(7) - 3)
		}
	}
	out, err := tensor.FromDense(shape, f, tensor.ArrayOf(vals))
	if err != nil {
		t.Fatal(fmt.Errorf("%v %s: %w", shape, f, err))
	}
	return out
}
