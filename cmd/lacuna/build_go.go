package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/codegen/aot/gopackage"
)

// checkGo reads the flags of a build of a Go package, and finds what is wrong before
// anything is compiled.
func (f *buildFlags) checkGo(args []string) error {
	if f.file != "" || len(args) == 0 {
		return cli.Usagef("--go-package takes one program and its operands")
	}
	if err := gopackage.CheckName(f.goPackage); err != nil {
		return cli.Usagef("--go-package: %s", err)
	}
	if f.goSource && f.options.Target+f.options.CPU != "" {
		return cli.Usagef("--go-source is for every processor: leave out --target and --cpu")
	}
	if f.report {
		return cli.Usagef("--report is of one kernel in a file of its own: leave out --go-package")
	}
	if len(f.outputs) != 1 {
		return cli.Usagef("--go-package takes one -o, the folder of the package")
	}
	if f.options.Name == "" {
		first, size := utf8.DecodeRuneInString(f.goPackage)
		f.options.Name = string(unicode.ToUpper(first)) + f.goPackage[size:]
	}
	if err := gopackage.CheckFunc(f.options.Name); err != nil {
		return cli.Usagef("--name: %s", err)
	}
	arch := (aot.Target{Triple: f.options.Target}).Arch()
	switch {
	case f.options.Target != "" && arch == "":
		return cli.Usagef("--target %s: Go packages are made for x86_64 and aarch64, such as x86_64-linux-gnu or aarch64-linux-gnu", f.options.Target)
	case f.options.CPU != "" && f.options.Target == "":
		return cli.Usagef("--cpu with --go-package needs --target: without it the package is for x86-64 and for Arm")
	}
	return f.wishes.parse()
}

// goCPUs are the processors of the package; nil for those that it has if nothing is said.
func (f *buildFlags) goCPUs() map[string]string {
	if f.options.Target == "" {
		return nil
	}
	cpu := f.options.CPU
	if cpu == "" {
		cpu = "generic"
	}
	return map[string]string{aot.Target{Triple: f.options.Target}.Arch(): cpu}
}

// buildGo adds a kernel to the Go package in a folder, or makes one.
func (a *app) buildGo(ctx context.Context, f *buildFlags, command, source string, args []string) error {
	p, opts, err := a.buildOperands(ctx, f, source, args)
	if err != nil {
		return err
	}
	files, err := cli.Await(ctx, func() (map[string][]byte, error) {
		k := lacuna.GoKernel{Func: f.options.Name, Source: p.source, Options: opts, Wide: f.options.Wide, Command: command}
		if f.goSource {
			text, err := lacuna.BuildGoSource(ctx, f.goPackage, k)
			return map[string][]byte{gopackage.KernelFile(f.options.Name): text}, err
		}
		return lacuna.BuildGo(ctx, lacuna.GoPackage{Name: f.goPackage, CPUs: f.goCPUs(), Kernels: []lacuna.GoKernel{k}})
	})
	if err != nil {
		return cli.Advise(err, "explain")
	}
	dir := f.outputs[0]
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := checkFolder(dir, f.goPackage, files); err != nil {
		return err
	}
	if err := checkCase(dir, f.options.Name); err != nil {
		return err
	}
	for name, data := range files {
		if err := aot.WriteFile(filepath.Join(dir, name), data); err != nil {
			return err
		}
	}
	// What an earlier build has left for processors that the kernel is no longer for.
	for _, name := range gopackage.FilesOf(f.options.Name) {
		if files[name] != nil {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// checkFolder refuses a folder of another package, and to write over files that lacuna build
// has not made.
func checkFolder(dir, pkg string, files map[string][]byte) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			continue
		}
		source, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return fmt.Errorf("the folder of package %s has a file that is no Go: %w", pkg, err)
		}
		if source.Name.Name != pkg {
			return fmt.Errorf("%s is in package %s: give package %s a folder of its own, or the name of this one", path, source.Name.Name, pkg)
		}
		if files[filepath.Base(path)] != nil && !ast.IsGenerated(source) {
			return fmt.Errorf("%s would be overwritten, but was not made by lacuna build: move it, or choose another folder or --name", path)
		}
	}
	return nil
}

// checkCase refuses a function whose name differs from that of another in the folder only in
// the case of its letters: their files would have the same names.
func checkCase(dir, function string) error {
	for _, name := range gopackage.FilesOf(function) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || filepath.Ext(name) != ".go" {
			continue
		}
		source, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			continue // it is made again
		}
		for _, d := range source.Decls {
			other, ok := d.(*ast.FuncDecl)
			if ok && strings.EqualFold(other.Name.Name, function) && other.Name.Name != function {
				return fmt.Errorf("the package has a function %s, whose name differs from %s only in case: their files would be the same; choose another --name", other.Name.Name, function)
			}
		}
	}
	return nil
}

// thisCommand is run by go generate, at the version that the module around a package asks for: the package imports tensor.
const thisCommand = "github.com/lacuna-sparse/lacuna/cmd/lacuna"

// generateCommand is the command line as a line of go:generate has it, which runs in the
// folder of the package; "" if operands have values, such as files, which may not be found from there.
func generateCommand(cmd *cobra.Command, args []string) string {
	operands, err := operand.ParseAll(args[1:])
	if err != nil || slices.ContainsFunc(operands, func(o operand.Operand) bool { return o.Source != nil }) {
		return ""
	}
	words := append([]string{"go", "run", thisCommand, "build"}, args...)
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if flag.Name == "output" {
			values = []string{"."}
		}
		for _, v := range values {
			words = append(words, "--"+flag.Name+"="+v)
		}
	})
	for i, w := range words {
		if strings.ContainsFunc(w, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_=.,:[]/", r)
		}) {
			// go generate reads strings of Go, and replaces $NAME.
			words[i] = strings.ReplaceAll(strconv.Quote(w), "$", "$DOLLAR")
		}
	}
	return strings.Join(words, " ")
}
