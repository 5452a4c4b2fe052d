package hdf5

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// This file compares files with what h5py says of them, for the tests of this package.

// description is what testdata/describe.py says of an object or attribute.
type description struct {
	Kind    string                 `json:"kind,omitempty"`
	Names   []string               `json:"names,omitempty"`
	Dims    []uint64               `json:"dims,omitempty"`
	Null    bool                   `json:"null,omitempty"`
	Type    string                 `json:"type,omitempty"`
	Strings []string               `json:"strings,omitempty"`
	CRC     uint32                 `json:"crc,omitempty"`
	Bytes   int                    `json:"bytes,omitempty"`
	Attrs   map[string]description `json:"attrs,omitempty"`
}

// describe says of a file what describe.py does.
func describe(t testing.TB, f *File) map[string]description {
	t.Helper()
	all := make(map[string]description)
	err := f.Root().Walk(func(path string, obj Object, err error) error {
		if errors.Is(err, ErrUnsupported) {
			all[path] = description{Kind: "refused"}
			return nil
		}
		if err != nil {
			return err
		}
		d := description{Attrs: describeAttrs(t, obj)}
		switch o := obj.(type) {
		case *Group:
			d.Kind = "group"
			if d.Names, err = o.Names(); err != nil {
				return err
			}
		case *Dataset:
			d.Kind = "dataset"
			d.Dims, d.Null = o.Dims(), o.IsNull()
			d.Type = o.Type().String()
			if d.Type == "string" {
				d.Strings, err = o.Strings()
			} else if o.Type().readable() != nil {
				d.Type = "unreadable"
			} else if !d.Null {
				var b []byte
				b, err = o.ReadAll()
				d.CRC, d.Bytes = crc32.ChecksumIEEE(b), len(b)
			}
			if err != nil {
				return err
			}
		}
		all[path] = d
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func describeAttrs(t testing.TB, obj Object) map[string]description {
	t.Helper()
	names, err := obj.AttrNames()
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		return nil
	}
	all := make(map[string]description)
	for _, name := range names {
		a, err := obj.Attr(name)
		if err != nil {
			t.Fatal(err)
		}
		d := description{Dims: a.Dims(), Null: a.space.null, Type: a.Type().String()}
		if d.Type == "string" {
			d.Strings, err = a.Texts()
		} else if !d.Null {
			var b []byte
			b, err = a.Bytes()
			d.CRC, d.Bytes = crc32.ChecksumIEEE(b), len(b)
		}
		if err != nil {
			t.Fatal(err)
		}
		all[name] = d
	}
	return all
}

// fixture returns a file of testdata, unpacked.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	packed, err := os.Open("testdata/" + name + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fixtures returns the descriptions of all files of testdata, by their names.
func fixtures(t testing.TB) map[string]map[string]description {
	t.Helper()
	return parseDescriptions(t, fixture(t, "expected.json"))
}

// parseDescriptions reads the output of describe.py, in which fields are there that Go leaves out.
func parseDescriptions(t testing.TB, text []byte) map[string]map[string]description {
	t.Helper()
	var all map[string]map[string]description
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func open(t testing.TB, b []byte) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// python runs a script of testdata under the system's Python, or skips the test.
func python(t testing.TB, script string, args ...string) []byte {
	t.Helper()
	const exe = "/usr/bin/python3"
	if exec.Command(exe, "-c", "import h5py").Run() != nil {
		t.Skip("needs h5py: apt-get install python3-h5py")
	}
	cmd := exec.Command(exe, append([]string{"-B", "testdata/" + script}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, stderr.String())
	}
	return out
}
