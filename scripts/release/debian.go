package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// control describes the package. The binary is static, so there is nothing that it depends on; LLVM is loaded if it is there.
const control = `Package: lacuna
Version: %s
Architecture: %s
Maintainer: The Lacuna authors <lacuna@example.org>
Section: math
Priority: optional
Recommends: libllvm19
Installed-Size: %d
Homepage: https://github.com/lacuna-sparse/lacuna
Description: compiler for sparse tensor algebra
 Lacuna compiles an index expression for exactly the formats that its tensors
 are stored in, and runs it: as machine code where LLVM is installed, else
 interpreted.
`

// debian makes the package of Debian for an architecture, whose names are Go's for those that releases are for.
func (r *maker) debian(arch string, files []file) error {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		log.Print("there is no dpkg-deb: no package of Debian is made")
		return nil
	}
	root := filepath.Join(r.work, "deb-"+arch)
	size := 0
	for _, f := range files {
		path, data, err := installed(f)
		if err != nil {
			return err
		}
		if path == "" {
			continue
		}
		size += (len(data) + 1023) / 1024
		if err := put(filepath.Join(root, path), data, f.mode); err != nil {
			return err
		}
	}
	text := fmt.Sprintf(control, r.version, arch, size)
	if err := put(filepath.Join(root, "DEBIAN/control"), []byte(text), 0o644); err != nil {
		return err
	}
	// Folders and files get the time of the commit, and the package too.
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, r.time, r.time)
	})
	if err != nil {
		return err
	}
	cmd := exec.Command("dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, filepath.Join(r.out, fmt.Sprintf("lacuna_%s_%s.deb", r.version, arch)))
	cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()))
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("dpkg-deb: %w\n%s", err, text)
	}
	return nil
}

// installed is where the package puts a file, and as what; "" for what it does not have.
func installed(f file) (path string, data []byte, err error) {
	const doc = "usr/share/doc/lacuna/"
	folder, name, ok := strings.Cut(f.name, "/")
	switch {
	case f.name == "lacuna":
		return "usr/bin/lacuna", f.data, nil
	case f.name == "LICENSE":
		return doc + "copyright", f.data, nil
	case !ok:
		return doc + f.name, f.data, nil
	case folder == "man":
		data, err = compressed(f.data)
		return "usr/share/man/man1/" + name + ".gz", data, err
	case folder == "completions":
		for _, s := range shells {
			if name == "lacuna."+s.name {
				return s.path, f.data, nil
			}
		}
	}
	return doc + f.name, f.data, nil
}

// compressed is data as gzip -9n makes it.
func compressed(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// put writes a file and the folders above it, with the modes of files that are installed.
func put(path string, data []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, mode)
}
