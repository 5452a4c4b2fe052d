package llvm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// eachLLVM runs a test on every LLVM installed.
func eachLLVM(t *testing.T, test func(*testing.T, *LLVM)) {
	seen := map[Version]bool{}
	for _, c := range candidates("") {
		if !filepath.IsAbs(c.Path) {
			continue
		}
		l, err := Load(c.Path)
		if err != nil || seen[l.Version()] {
			continue
		}
		seen[l.Version()] = true
		t.Run(fmt.Sprint("llvm", l.Version().Major), func(t *testing.T) { test(t, l) })
	}
	if len(seen) == 0 {
		t.Skip("no LLVM found: " + Install)
	}
}

// spmv is y = A x for a CSR matrix, in the typed-pointer dialect.
const spmv = `
define i64 @spmv(i64* noalias %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
entry:
  %a0 = bitcast i64* %args to i32**
  %pos = load i32*, i32** %a0
  %s1 = getelementptr i64, i64* %args, i64 1
  %a1 = bitcast i64* %s1 to i32**
  %crd = load i32*, i32** %a1
  %s2 = getelementptr i64, i64* %args, i64 2
  %a2 = bitcast i64* %s2 to double**
  %vals = load double*, double** %a2
  %s3 = getelementptr i64, i64* %args, i64 3
  %a3 = bitcast i64* %s3 to double**
  %x = load double*, double** %a3
  %s4 = getelementptr i64, i64* %args, i64 4
  %a4 = bitcast i64* %s4 to double**
  %y = load double*, double** %a4
  %g = icmp slt i64 %lo, %hi
  br i1 %g, label %row, label %done
row:
  %i = phi i64 [ %lo, %entry ], [ %i1, %row.end ]
  %pp = getelementptr i32, i32* %pos, i64 %i
  %p32 = load i32, i32* %pp
  %p0 = zext i32 %p32 to i64
  %i1 = add nsw i64 %i, 1
  %pq = getelementptr i32, i32* %pos, i64 %i1
  %q32 = load i32, i32* %pq
  %q = zext i32 %q32 to i64
  %g2 = icmp slt i64 %p0, %q
  br i1 %g2, label %nz, label %row.end
nz:
  %p = phi i64 [ %p0, %row ], [ %p1, %nz ]
  %s = phi double [ 0.0, %row ], [ %sn, %nz ]
  %cp = getelementptr i32, i32* %crd, i64 %p
  %c32 = load i32, i32* %cp
  %c = zext i32 %c32 to i64
  %xp = getelementptr double, double* %x, i64 %c
  %xv = load double, double* %xp
  %vp = getelementptr double, double* %vals, i64 %p
  %v = load double, double* %vp
  %m = fmul double %v, %xv
  %sn = fadd double %s, %m
  %p1 = add nsw i64 %p, 1
  %c2 = icmp slt i64 %p1, %q
  br i1 %c2, label %nz, label %row.end
row.end:
  %r = phi double [ 0.0, %row ], [ %sn, %nz ]
  %yp = getelementptr double, double* %y, i64 %i
  store double %r, double* %yp
  %c3 = icmp slt i64 %i1, %hi
  br i1 %c3, label %row, label %done
done:
  ret i64 0
}
`

type csr struct {
	pos, crd   []uint32
	vals, x, y []float64
}

// sample is [[1 0 2] [0 0 0] [0 3 4]] times (10, 100, 1000).
func sample() *csr {
	return &csr{
		pos: []uint32{0, 2, 2, 4}, crd: []uint32{0, 2, 1, 2},
		vals: []float64{1, 2, 3, 4}, x: []float64{10, 100, 1000}, y: []float64{-1, -1, -1},
	}
}

func (c *csr) args() *ArgBlock {
	return NewArgBlock([]unsafe.Pointer{
		unsafe.Pointer(&c.pos[0]), unsafe.Pointer(&c.crd[0]), unsafe.Pointer(&c.vals[0]),
		unsafe.Pointer(&c.x[0]), unsafe.Pointer(&c.y[0]),
	}, nil)
}

func (c *csr) check(t *testing.T) {
	t.Helper()
	if got, want := fmt.Sprint(c.y), "[2010 0 4300]"; got != want {
		t.Errorf("y = %s, want %s", got, want)
	}
}

func TestCompileAndCall(t *testing.T) {
	eachLLVM(t, func(t *testing.T, l *LLVM) {
		m, err := l.Compile(spmv, Options{})
		if err != nil {
			t.Fatal(err)
		}
		fn, err := m.Func("spmv")
		if err != nil {
			t.Fatal(err)
		}
		c := sample()
		args := c.args()
		if status := args.Call(fn, 0, 0, 3); status != 0 {
			t.Errorf("status %d", status)
		}
		c.check(t)
		if _, err := m.Func("absent"); err == nil || !strings.Contains(err.Error(), "absent") {
			t.Errorf("looking up an absent function: %v", err)
		}
		for range 2 {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, err := m.Func("spmv"); err == nil {
			t.Error("a closed module still finds functions")
		}
	})
}

func TestObjectIsLinkedAgain(t *testing.T) {
	eachLLVM(t, func(t *testing.T, l *LLVM) {
		for _, level := range []Level{O0, O1, O2, O3, Quick} {
			object, err := l.EmitObject(spmv, Options{Level: level})
			if err != nil {
				t.Fatal(err)
			}
			m, err := l.Link(object)
			if err != nil {
				t.Fatal(err)
			}
			fn, err := m.Func("spmv")
			if err != nil {
				t.Fatal(err)
			}
			c := sample()
			args := c.args()
			args.Call(fn, 0, 0, 3)
			c.check(t)
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestText(t *testing.T) {
	eachLLVM(t, func(t *testing.T, l *LLVM) {
		asm, err := l.EmitAssembly(spmv, Options{})
		if err != nil || !strings.Contains(asm, "spmv:") {
			t.Errorf("assembly: %v\n%s", err, asm)
		}
		ir, err := l.PrintOptimized(spmv, Options{})
		if err != nil || !strings.Contains(ir, "define") || !strings.Contains(ir, "target triple") {
			t.Errorf("optimised IR: %v\n%s", err, ir)
		}
		if err := l.Verify(ir); err != nil {
			t.Errorf("optimised IR: %v", err)
		}
	})
}

func TestCrossTargets(t *testing.T) {
	tests := []struct {
		target Target
		want   string
	}{
		{Target{Triple: "aarch64-linux-gnu"}, "fmul"},
		{Target{Triple: "x86_64-linux-gnu", CPU: "haswell"}, "vmulsd"},
		{Target{Triple: "nvptx64-nvidia-cuda", CPU: "sm_70"}, ".target sm_70"},
	}
	eachLLVM(t, func(t *testing.T, l *LLVM) {
		for _, test := range tests {
			asm, err := l.EmitAssembly(spmv, Options{Target: test.target})
			if err != nil || !strings.Contains(asm, test.want) {
				t.Errorf("%v: %v, want %s in\n%s", test.target, err, test.want, asm)
			}
		}
		_, err := l.EmitObject(spmv, Options{Target: Target{Triple: "vax-dec-ultrix"}})
		if err == nil || !strings.Contains(err.Error(), "vax-dec-ultrix") {
			t.Errorf("an unknown triple: %v", err)
		}
	})
}

func TestErrors(t *testing.T) {
	tests := []struct{ name, ir, want string }{
		{"syntax", "define i64 @f( {", "parsing the IR"},
		{"type", "define i64 @f() {\n  ret double 0.0\n}", "ret"},
		{"dominance", "define i64 @f(i1 %c) {\nentry:\n  br i1 %c, label %a, label %b\na:\n  %x = add i64 1, 2\n  br label %b\nb:\n  ret i64 %x\n}", "verifying the IR"},
		{"zero byte", "\x00", "parsing"},
		{"bitcode", "BC\xc0\xdeabcdefgh", "parsing"},
		{"inline assembly", "define i64 @f() {\n  call void asm sideeffect \"frobnicate\", \"\"()\n  ret i64 0\n}", "frobnicate"},
	}
	eachLLVM(t, func(t *testing.T, l *LLVM) {
		for _, test := range tests {
			_, err := l.EmitObject(test.ir, Options{})
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
			}
		}
		if _, err := l.Link([]byte("no object file")); err == nil {
			t.Error("linking garbage succeeded")
		}
		if _, err := l.Link(nil); err == nil {
			t.Error("linking nothing succeeded")
		}
		m, err := l.Compile("declare i64 @nowhere()\ndefine i64 @f() {\n  %r = call i64 @nowhere()\n  ret i64 %r\n}", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Func("f"); err == nil || !strings.Contains(err.Error(), "nowhere") {
			t.Errorf("an undefined callee: %v", err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestRuntimeSymbols(t *testing.T) {
	const ir = `
declare double @llvm.floor.f64(double)
declare void @llvm.memset.p0i8.i64(i8*, i8, i64, i1)
define i64 @f(i64* noalias %args, i64 %chunk, i64 %lo, i64 %hi) {
  %p = bitcast i64* %args to i8*
  call void @llvm.memset.p0i8.i64(i8* %p, i8 7, i64 %hi, i1 false)
  %d = sitofp i64 %lo to double
  %h = fdiv double %d, 2.0
  %f = call double @llvm.floor.f64(double %h)
  %i = fptosi double %f to i64
  ret i64 %i
}`
	eachLLVM(t, func(t *testing.T, l *LLVM) {
		host, err := l.Host()
		if err != nil {
			t.Fatal(err)
		}
		host.CPU, host.Features = "", "" // a machine that rounds with libm
		m, err := l.Compile(ir, Options{Target: host})
		if err != nil {
			t.Fatal(err)
		}
		fn, err := m.Func("f")
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, 1000)
		if got := Call(fn, unsafe.Pointer(&data[0]), 0, 7, int64(len(data))); got != 3 {
			t.Errorf("floor(3.5) = %d", got)
		}
		if data[0] != 7 || data[999] != 7 {
			t.Error("memset did not run")
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestConcurrentCompilation(t *testing.T) {
	eachLLVM(t, func(t *testing.T, l *LLVM) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				m, err := l.Compile(spmv, Options{})
				if err != nil {
					t.Error(err)
					return
				}
				fn, err := m.Func("spmv")
				if err != nil {
					t.Error(err)
					return
				}
				c := sample()
				args := c.args()
				args.Call(fn, 0, 0, 3)
				c.check(t)
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

func TestFatalErrorIsAnError(t *testing.T) {
	// A fatal error spoils the library for the rest of the process, so this
	// test runs in a process of its own.
	const child = "LACUNA_TEST_FATAL"
	path := os.Getenv(child)
	if path == "" {
		eachLLVM(t, func(t *testing.T, l *LLVM) {
			out, err := runSelf(t, child+"="+l.Path())
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
		return
	}
	l, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	const ir = "declare i32 @llvm.ppc.popcntb(i32)\ndefine i64 @f(i32 %x) {\n  %r = call i32 @llvm.ppc.popcntb(i32 %x)\n  %z = zext i32 %r to i64\n  ret i64 %z\n}"
	for _, want := range []string{"fatal error", "no longer used"} {
		if _, err := l.EmitObject(ir, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
