// Command build makes the explorer and the pages of the documentation, a folder of static files:
//
//	go run ./web/build            into web/dist, from where package web embeds it
//	go run ./web/build -o DIR
//
// It needs Go, and npm to fetch what package-lock.json names. The bundler is a Go module.
package main

import (
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/lacuna-sparse/lacuna/internal/explorer"
	"github.com/lacuna-sparse/lacuna/web/site"
)

func main() {
	out := flag.String("o", "", "the folder to make; web/dist if nothing is said")
	bare := flag.Bool("bare", false, "leave the compiler out: for lacuna serve and lacuna explain --html")
	flag.Parse()
	if err := build(*out, *bare); err != nil {
		fmt.Fprintln(os.Stderr, "web/build:", err)
		os.Exit(1)
	}
}

func build(out string, bare bool) error {
	web, err := output("go", "list", "-f", "{{.Dir}}", "github.com/lacuna-sparse/lacuna/web")
	if err != nil {
		return err
	}
	if out == "" {
		out = filepath.Join(web, "dist")
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	if err := modules(web); err != nil {
		return err
	}
	goroot, err := output("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	if err := bundle(web, out, filepath.Join(goroot, "lib", "wasm", "wasm_exec.js")); err != nil {
		return err
	}
	if err := documentation(web, out); err != nil {
		return fmt.Errorf("the pages of the documentation: %w", err)
	}
	if err := licenses(web, filepath.Join(out, "licenses.txt")); err != nil {
		return err
	}
	page, err := os.ReadFile(filepath.Join(web, "src", "index.html"))
	if err != nil {
		return err
	}
	if !bare {
		if err := wasm(web, filepath.Join(out, "lacuna.wasm.packed")); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(out, "index.html"), page, 0o666)
}

// modules fetches what the page takes from npm, exactly as locked, unless it is there.
func modules(web string) error {
	lock, err := os.Stat(filepath.Join(web, "package-lock.json"))
	if err != nil {
		return err
	}
	if have, err := os.Stat(filepath.Join(web, "node_modules", ".package-lock.json")); err == nil && !have.ModTime().Before(lock.ModTime()) {
		return nil
	}
	cmd := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir, cmd.Stderr = web, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm ci, for the page's editor: %w; on Debian \"apt install npm\" brings npm", err)
	}
	return nil
}

// bundle makes one file each of the page, its worker and its style. What the compiler in the page would say of itself it says here: the
// page has its gallery before the compiler is there.
func bundle(web, out, wasmExec string) error {
	about, err := os.CreateTemp("", "about-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(about.Name())
	if _, err := about.Write((&explorer.Service{}).Answer(context.Background(), []byte(`{"op":"about"}`))); err != nil {
		return err
	}
	if err := about.Close(); err != nil {
		return err
	}
	var entries []string
	for _, name := range []string{"start.js", "main.js", "worker.js", "main.css"} {
		entries = append(entries, filepath.Join(web, "src", name))
	}
	result := api.Build(api.BuildOptions{
		EntryPoints: entries,
		Bundle:      true, MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true,
		Format: api.FormatESModule, Target: api.ES2022, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone,
		Alias:  map[string]string{"wasm_exec": wasmExec, "about": about.Name()},
		Outdir: out, Write: true, LogLevel: api.LogLevelWarning, AbsWorkingDir: web,
	})
	if len(result.Errors) > 0 {
		return fmt.Errorf("bundling: %s", result.Errors[0].Text)
	}
	return nil
}

// documentation makes the pages of the documents, with a script that a page may load which is opened as a file: it is no module.
func documentation(web, out string) error {
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{filepath.Join(web, "src", "site.js"), filepath.Join(web, "src", "site.css")},
		Bundle:      true, MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true,
		Format: api.FormatIIFE, Target: api.ES2022, Charset: api.CharsetUTF8,
		Outdir: out, Write: true, LogLevel: api.LogLevelWarning, AbsWorkingDir: web,
	})
	if len(result.Errors) > 0 {
		return errors.New(result.Errors[0].Text)
	}
	return site.Build(filepath.Dir(web), out)
}

// licenses gathers those of what is bundled.
func licenses(web, target string) error {
	var b strings.Builder
	for _, pattern := range []string{"*", "@*/*"} {
		list, err := filepath.Glob(filepath.Join(web, "node_modules", pattern, "LICENSE"))
		if err != nil {
			return err
		}
		for _, name := range list {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(filepath.Join(web, "node_modules"), filepath.Dir(name))
			fmt.Fprintf(&b, "%s\n\n%s\n\n", filepath.ToSlash(rel), text)
		}
	}
	return os.WriteFile(target, []byte(b.String()), 0o666)
}

// maxPacked bounds what a page loads, and with it the time until its first result.
const maxPacked = 7 << 20

// wasm compiles the compiler for browsers and packs it. Its name does not end in .gz, for which some servers add a header that
// makes the browser unpack it too.
func wasm(web, target string) error {
	// Not beside the target: what is in web/dist while somebody builds package web would be embedded.
	dir, err := os.MkdirTemp("", "lacuna-wasm")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	temp := filepath.Join(dir, "lacuna.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", temp, "./wasm")
	cmd.Dir, cmd.Stderr = web, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("compiling the compiler for browsers: %w", err)
	}
	from, err := os.Open(temp)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.Create(target)
	if err != nil {
		return err
	}
	defer to.Close()
	z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := io.Copy(z, from); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if info, err := to.Stat(); err == nil && info.Size() > maxPacked {
		return fmt.Errorf("the compiler takes %d bytes in the page, want %d at most: has a large module come in? (GOOS=js GOARCH=wasm go list -deps ./web/wasm)", info.Size(), maxPacked)
	}
	return to.Close()
}

func output(name string, args ...string) (string, error) {
	text, err := exec.Command(name, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(text)), nil
}
