package aot_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/codegen/aot"
)

// This file tests what is in object files: which symbols they ask for, and that a build gives the same bytes.

// TestSelfContained builds kernels for every level of x86-64 and for aarch64 and looks for
// symbols that would have to come from elsewhere.
func TestSelfContained(t *testing.T) {
	l := needLLVM(t)
	targets := []struct{ triple, cpu string }{
		{"x86_64-linux-gnu", "x86-64"}, {"x86_64-linux-gnu", "x86-64-v2"}, {"x86_64-linux-gnu", "x86-64-v3"}, {"x86_64-linux-gnu", "x86-64-v4"},
		{"x86_64-linux-gnu", "x86-64,x86-64-v2,x86-64-v3,x86-64-v4"}, {"aarch64-linux-gnu", "generic"}, {"aarch64-linux-gnu", "neoverse-n1"},
	}
	every := 4 // of the cases of TestRun, besides the first target, which has all
	for n, target := range targets {
		t.Run(target.triple+" "+target.cpu, func(t *testing.T) {
			for i, c := range cases {
				if n > 0 && (i+n)%every != 0 {
					continue
				}
				opts := c.opts
				for _, o := range c.operands {
					opts = append(opts, lacuna.Format(o.name, format(t, o.format, len(o.shape)), o.dt))
				}
				p, err := lacuna.Link(t.Context(), c.src, lacuna.BuildOptions{Name: "k"}, opts...)
				if err != nil {
					t.Fatal(err)
				}
				machine, err := aot.ParseTarget(l, target.triple, target.cpu)
				if err != nil {
					t.Fatal(err)
				}
				object, err := (&aot.Unit{Program: p, Target: machine, LLVM: l}).Object()
				if err != nil {
					t.Fatal(err)
				}
				undefined, err := undefinedSymbols(object)
				if err != nil {
					t.Fatal(err)
				}
				if len(undefined) > 0 {
					t.Errorf("%s needs %v", c.src, undefined)
				}
				if err := onlyOwnGlobals(object); err != nil {
					t.Errorf("%s: %v", c.src, err)
				}
			}
		})
	}
}

// onlyOwnGlobals checks that an object defines nothing for others but the kernel's
// functions.
func onlyOwnGlobals(object []byte) error {
	f, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		return err
	}
	symbols, err := f.Symbols()
	if err != nil {
		return err
	}
	own := map[string]bool{"k": true, "k_step": true, "k_chunk": true, "k_kernel": true}
	for _, s := range symbols {
		if elf.ST_BIND(s.Info) != elf.STB_LOCAL && !own[s.Name] {
			return fmt.Errorf("it defines %s for others", s.Name)
		}
	}
	return nil
}

// TestDeterministic builds a kernel twice.
func TestDeterministic(t *testing.T) {
	needLLVM(t)
	var files [2][][]byte
	kinds := slices.DeleteFunc(slices.Clone(aot.Extensions), func(kind string) bool { return kind == ".ptx" }) // see TestPTX
	for i := range files {
		u, err := lacuna.Build(t.Context(), "M(i,r) = sum_{j,k} A(i,j,k) * B(j,r) * C(k,r); s = max_{i,r} M(i,r)", lacuna.BuildOptions{Name: "k"},
			lacuna.Format("A", format(t, "CSF", 3), f64), lacuna.Format("B", format(t, "D", 2), f64), lacuna.Format("C", format(t, "D", 2), f64))
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range kinds {
			data, err := u.File("x" + kind)
			if err != nil {
				t.Fatal(err)
			}
			files[i] = append(files[i], data)
		}
	}
	for k, kind := range kinds {
		if !bytes.Equal(files[0][k], files[1][k]) {
			t.Errorf("two builds of a %s differ", kind)
		}
	}
}

// undefinedSymbols lists the symbols that an object file needs from elsewhere.
func undefinedSymbols(object []byte) ([]string, error) {
	f, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		return nil, err
	}
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, err
	}
	var list []string
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF {
			list = append(list, s.Name)
		}
	}
	return list, nil
}
