// Command release makes the files of a release: for each platform an archive with the static binary, its manual pages
// and the completions of shells; packages of Debian; what each binary is made of; and checksums of all.
//
//	go run ./scripts/release -o dist
//
// The files follow from the commit and the versions of Go and of the page's modules, which are locked, alone: archives have the time of the commit, the same owner and
// order everywhere. Packages need dpkg-deb, and are left out without it.
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// platforms is what a release is for, as GOOS/GOARCH.
const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	out := flag.String("o", "dist", "write to `FOLDER`")
	list := flag.String("platforms", platforms, "make these, as GOOS/GOARCH")
	bare := flag.Bool("bare", false, "leave the explorer as it is: out, unless make web made it")
	dirty := flag.Bool("dirty", false, "do so even if files differ from the commit")
	flag.Parse()
	if err := release(*out, strings.Split(*list, ","), *dirty, *bare); err != nil {
		log.Fatal(err)
	}
}

// release makes all files.
func release(out string, list []string, dirty, bare bool) error {
	status, err := git("status", "--porcelain")
	if err != nil {
		return err
	}
	if status != "" && !dirty {
		return fmt.Errorf("files differ from the commit, which the binaries would say: commit them, or say -dirty\n%s", status)
	}
	r := &maker{out: out}
	if err := r.identify(); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "lacuna-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r.work = work
	if !bare {
		if err := r.pages(); err != nil {
			return err
		}
	}
	if err := r.describe(); err != nil {
		return err
	}
	for _, platform := range list {
		if err := r.platform(platform); err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
	}
	return r.checksums()
}

// maker makes the files of one release.
type maker struct {
	out, work string
	version   string    // of Debian's kind: 0.1.0, or 0.0~20260102150405.abcdef
	time      time.Time // of the commit
	common    []file    // what all platforms have
}

// file is a file of an archive.
type file struct {
	name string
	data []byte
	mode fs.FileMode
}

// git runs git and returns what it prints.
func git(args ...string) (string, error) {
	text, err := exec.Command("git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(text)), nil
}

// identify finds what the release is called, and its time.
func (r *maker) identify() error {
	seconds, err := git("log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return err
	}
	r.time = time.Unix(n, 0).UTC()
	revision, err := git("rev-parse", "--short=12", "HEAD")
	if err != nil {
		return err
	}
	r.version = fmt.Sprintf("0.0~%s.%s", r.time.Format("20060102150405"), revision)
	if tag, err := git("describe", "--tags", "--exact-match", "--match", "v*"); err == nil {
		r.version = strings.ReplaceAll(strings.TrimPrefix(tag, "v"), "-", "~") // 1.0.0-rc1 is before 1.0.0
	}
	return nil
}

// pages makes the explorer and the documentation, which binaries have inside: of one commit, the same bytes.
func (r *maker) pages() error {
	cmd := exec.Command(cmp.Or(os.Getenv("GO"), "go"), "run", "-trimpath", "./web/build")
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("making the explorer, which binaries have inside: %w; without npm: -bare", err)
	}
	return nil
}

// build builds the command for a platform.
func (r *maker) build(goos, goarch, to string) error {
	cmd := exec.Command(cmp.Or(os.Getenv("GO"), "go"), "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w -buildid=", "-o", to, "./cmd/lacuna")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch, "GOFLAGS=", "GOAMD64=v1")
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// shells are those that completions are made for, and where a Debian system has them.
var shells = []struct{ name, path string }{
	{"bash", "usr/share/bash-completion/completions/lacuna"},
	{"fish", "usr/share/fish/vendor_completions.d/lacuna.fish"},
	{"powershell", ""},
	{"zsh", "usr/share/zsh/vendor-completions/_lacuna"},
}

// describe makes what is the same on all platforms: manual pages, completions, documents, an example.
func (r *maker) describe() error {
	here := filepath.Join(r.work, "lacuna-here")
	host, err := exec.Command(cmp.Or(os.Getenv("GO"), "go"), "env", "GOHOSTOS", "GOHOSTARCH").Output()
	if err != nil {
		return err
	}
	names := strings.Fields(string(host))
	if err := r.build(names[0], names[1], here); err != nil {
		return err
	}
	run := func(args ...string) ([]byte, error) {
		cmd := exec.Command(here, args...)
		cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()))
		cmd.Stderr = os.Stderr
		return cmd.Output()
	}
	for _, s := range shells {
		text, err := run("completion", s.name)
		if err != nil {
			return err
		}
		r.common = append(r.common, file{"completions/lacuna." + s.name, text, 0o644})
	}
	man := filepath.Join(r.work, "man")
	if _, err := run("man", man); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(man, "*.1"))
	if err != nil || len(pages) == 0 {
		return errors.Join(err, errors.New("there are no manual pages"))
	}
	for _, from := range append(pages, "LICENSE", "README.md", "CHANGELOG.md", "examples/testdata/small.mtx") {
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		name := filepath.Base(from)
		switch filepath.Ext(from) {
		case ".1":
			name = "man/" + name
		case ".mtx":
			name = "examples/" + name
		}
		r.common = append(r.common, file{name, data, 0o644})
	}
	return nil
}

// platform makes the files for a platform.
func (r *maker) platform(platform string) error {
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return errors.New("a platform is GOOS/GOARCH")
	}
	name := fmt.Sprintf("lacuna_%s_%s_%s", r.version, goos, goarch)
	binary := "lacuna"
	if goos == "windows" {
		binary = "lacuna.exe"
	}
	path := filepath.Join(r.work, name, binary)
	if err := r.build(goos, goarch, path); err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	parts, err := r.billOfMaterials(path, name)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, name+".cdx.json"), parts, 0o644); err != nil {
		return err
	}
	files := append([]file{{binary, data, 0o755}, {"lacuna.cdx.json", parts, 0o644}}, r.common...)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	pack, ending := tarball, ".tar.gz"
	if goos == "windows" {
		pack, ending = zipped, ".zip"
	}
	archive, err := pack(name, r.time, files)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, name+ending), archive, 0o644); err != nil {
		return err
	}
	if goos != "linux" {
		return nil
	}
	return r.debian(goarch, files)
}

// checksums writes the SHA-256 of every file, as sha256sum -c reads them.
func (r *maker) checksums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, e := range entries {
		if e.Name() == "SHA256SUMS" || e.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), sums.Bytes(), 0o644)
}
