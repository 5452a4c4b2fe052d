package main

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/codegen/aot"
)

// buildFlags are the flags of the command build.
type buildFlags struct {
	wishes    wishes
	outputs   []string
	file      string // that lists kernels
	goPackage string // the name of a Go package to make instead
	goSource  bool   // as Go source
	report    bool
	options   lacuna.BuildOptions
}

func newBuild(a *app) *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "build {PROGRAM [NAME:FORMAT[TYPE]]… | -f lacuna.toml} -o FILE",
		Short: "Compile a program ahead of time to an object file or a library",
		Long: `Build compiles a program to a file that needs nothing of lacuna, of LLVM or of a C
library when it runs. The ending of the name tells the kind of file:

  .h    C header: the structures of lacuna.h, and this kernel's functions
  .o    object file          .a    static library       .so   shared library
  .s    assembly             .ll   LLVM IR
  .ptx  kernels for NVIDIA's GPUs, and beside it a .json that tells how to launch them

With several -o, the program is compiled once for all of them. Operands are declared
as A:CSR[f64], and are dense and f64 where nothing is said; their index arrays are
32 bits wide, unless they are given as files (A=web.mtx), whose types they then have.

The processor is this machine's. --cpu x86-64-v2,x86-64-v3,x86-64-v4 puts code for
several levels in one file, of which each machine runs the best it can. For a .ptx it is
the oldest architecture of GPUs that is to run it (default: sm_70).

With -f, the kernels that a file lists, each for several formats and types, become one
library, .a or .so, with a .h. What has not changed since the last build is not compiled
again: the objects are kept beside the library, in .NAME.objects.

With --go-package, -o is the folder of a Go package, to which a function for the kernel
is added. It is for Linux on x86-64 and 64-bit Arm unless there is a --target. With --go-source
the kernel is plain Go, for every system that Go knows, and for reading.`,
		Example: `  lacuna build 'y(i) = A(i,j)*x(j)' A:CSR -o spmv.o -o spmv.h
  lacuna build 'C(i,j) = A(i,j) + B(i,j)' A:CSR B:CSR --name add -o libadd.so --cpu x86-64-v3
  lacuna build 'y(i) = A(i,j)*x(j)' A:CSR[f32] x:[f32] -o spmv.o --target aarch64-linux-gnu
  lacuna build 'y(i) = A(i,j)*x(j)' A:CSR -o spmv.ptx --cpu sm_80
  lacuna build 'y(i) = A(i,j)*x(j)' A:CSR --go-package kernels --name SpMV -o kernels
  lacuna build 'y(i) = A(i,j)*x(j)' A:CSR --go-package kernels --go-source --name SpMV -o kernels`,
		Args: cli.Arguments(0, -1, "a program and its operands"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("go-package") || f.goSource {
				if err := f.checkGo(args); err != nil {
					return err
				}
				return a.buildGo(cmd.Context(), &f, generateCommand(cmd, args), args[0], args[1:])
			}
			if err := f.check(args); err != nil {
				return err
			}
			if f.file != "" {
				return a.buildLibrary(cmd.Context(), &f, f.file)
			}
			return a.build(cmd.Context(), &f, args[0], args[1:])
		},
	}
	cmd.Flags().StringArrayVarP(&f.outputs, "output", "o", nil, "write to `FILE`; may be given several times")
	cmd.Flags().StringVarP(&f.file, "file", "f", "", "build the kernels that `FILE` lists")
	cmd.Flags().StringVar(&f.options.Name, "name", "", "the kernel's `NAME`, an identifier of C (default: from that of the file); of a Go function (default: from that of the package)")
	cmd.Flags().StringVar(&f.goPackage, "go-package", "", "make a Go package of this `NAME`")
	cmd.Flags().BoolVar(&f.goSource, "go-source", false, "with --go-package, write the kernel as Go source, without machine code")
	cmd.Flags().StringVar(&f.options.Target, "target", "", "LLVM `TRIPLE` of another machine: x86_64-linux-gnu, aarch64-linux-gnu")
	cmd.Flags().StringVar(&f.options.CPU, "cpu", "", "processor as LLVM names it, levels of x86-64, native or generic (default: native, or generic with --target); of a .ptx, an architecture of GPUs (default: sm_70)")
	cmd.Flags().BoolVar(&f.options.Wide, "wide", false, "make coordinates of sparse results 64 bits wide")
	cmd.Flags().BoolVar(&f.report, "report", false, "print what is in the kernel: its loops, the bytes and operations of an iteration, vectors")
	f.wishes.register(cmd)
	f.wishes.registerAssume(cmd)
	return cmd
}

// check reads the flags and finds what is wrong before anything is compiled.
func (f *buildFlags) check(args []string) error {
	switch {
	case f.file == "" && len(args) == 0:
		return cli.Usagef("give a program and its operands, or with -f a file that lists some")
	case f.file != "" && len(args) > 0:
		return cli.Usagef("give a program or, with -f, a file that lists some, not both")
	case f.file != "" && (f.options.Target != "" || f.options.CPU != "" || f.options.Wide || f.wishes.given()):
		return cli.Usagef("with -f, only -o and --name say more: write target, cpu, wide and strict-ieee in %s", f.file)
	}
	if f.report && f.file != "" {
		return cli.Usagef("--report is of one kernel, not of those of a file")
	}
	if len(f.outputs) == 0 && f.report {
		f.options.Name = cmp.Or(f.options.Name, "kernel")
	} else if len(f.outputs) == 0 {
		return cli.Usagef("give the file to write: -o NAME.o, or another ending: %s", strings.Join(aot.Extensions, ", "))
	}
	for _, path := range f.outputs {
		if err := aot.CheckPath(path); err != nil {
			return cli.Usagef("%s", err)
		}
	}
	if f.options.Name == "" {
		base := filepath.Base(f.outputs[0])
		f.options.Name = strings.TrimPrefix(strings.TrimSuffix(base, filepath.Ext(base)), "lib")
	}
	if err := f.checkGPU(); err != nil {
		return err
	}
	if err := aot.CheckName(f.options.Name); err != nil {
		return cli.Usagef("%s: give one with --name", err)
	}
	return f.wishes.parse()
}

// checkGPU finds what does not go with a .ptx, and sets the target for one.
func (f *buildFlags) checkGPU() error {
	other := func(path string) bool { return filepath.Ext(path) != ".ptx" }
	switch at := slices.IndexFunc(f.outputs, other); {
	case !slices.ContainsFunc(f.outputs, func(path string) bool { return !other(path) }):
		return nil
	case at >= 0:
		return cli.Usagef("%s is not for GPUs, as a .ptx is: build it by a command of its own", f.outputs[at])
	case f.file != "":
		return cli.Usagef("with -f, only .a, .so and .h are built: build each .ptx by a command of its own")
	case f.options.Target != "":
		return cli.Usagef("a .ptx has no --target: the GPU is given by --cpu, such as sm_80")
	case strings.Contains(f.options.CPU, ","):
		return cli.Usagef("a .ptx is for one --cpu: newer GPUs run what is for older ones")
	case f.report:
		return cli.Usagef("--report is of kernels for CPUs: see lacuna explain --stage grids")
	}
	f.options.Target = aot.GPU
	return nil
}

// buildOperands reads the program and what is declared of its operands.
func (a *app) buildOperands(ctx context.Context, f *buildFlags, source string, args []string) (*program, []lacuna.Option, error) {
	operands, err := operand.ParseAll(args)
	if err != nil {
		return nil, nil, err
	}
	p, err := parseProgram(source)
	if err != nil {
		return nil, nil, err
	}
	opts, _, err := a.declareAll(ctx, p, operands, &f.wishes)
	if err != nil {
		return nil, nil, cli.Advise(err, "explain")
	}
	return p, opts, nil
}

// build compiles one program.
func (a *app) build(ctx context.Context, f *buildFlags, source string, args []string) error {
	p, opts, err := a.buildOperands(ctx, f, source, args)
	if err != nil {
		return err
	}
	made, err := cli.Await(ctx, func() (*buildResult, error) { return f.compile(ctx, p.source, opts) })
	if err != nil {
		return cli.Advise(err, "explain")
	}
	a.Printf("%s", made.report)
	return aot.WriteFiles(made.files)
}

// buildResult is what a build has made.
type buildResult struct {
	files  []aot.Member
	report string
}

// compile makes the contents of all outputs. A header needs no LLVM.
func (f *buildFlags) compile(ctx context.Context, source string, opts []lacuna.Option) (*buildResult, error) {
	made := &buildResult{}
	if !f.report && len(f.outputs) == 1 && filepath.Ext(f.outputs[0]) == ".h" && f.options.Target != aot.GPU {
		p, err := lacuna.Link(ctx, source, f.options, opts...)
		if err != nil {
			return nil, err
		}
		made.files = []aot.Member{{Name: f.outputs[0], Data: []byte(aot.KernelHeader(p))}}
		return made, nil
	}
	u, err := lacuna.Build(ctx, source, f.options, opts...)
	if err != nil {
		return nil, err
	}
	for _, path := range f.outputs {
		files, err := u.Files(path)
		if err != nil {
			return nil, err
		}
		made.files = append(made.files, files...)
	}
	if f.report {
		made.report, err = u.Report()
	}
	return made, err
}
