package operand

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// FormatNames are the formats that have names.
var FormatNames = []string{"CSR", "CSC", "DCSR", "DCSC", "COO", "COOC", "CSF", "D"}

// CompleteSource completes what stands behind NAME=: a file, then behind a colon its format or
// what to read of it.
func CompleteSource(text string) []string {
	for at := len(text) - 1; at > 0; at-- {
		if text[at] == ':' && FileExists(text[:at]) {
			return cli.Prefixed(text[:at+1], completeQualifier(text[:at], text[at+1:]))
		}
	}
	dir, base := filepath.Split(text)
	entries, err := os.ReadDir(filepath.Clean("./" + dir))
	if filepath.IsAbs(dir) {
		entries, err = os.ReadDir(dir)
	}
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case !strings.HasPrefix(name, base) || base == "" && name[0] == '.':
			continue
		case e.IsDir() && !file.IsTensor(filepath.Join(dir, name)):
			name += "/"
		}
		list = append(list, dir+name)
	}
	return append(list, cli.WithPrefix([]string{"random(", "range("}, text)...)
}

// completeQualifier completes what stands behind a file and a colon.
func completeQualifier(path, text string) []string {
	if at := strings.LastIndexByte(text, ':'); at >= 0 {
		return cli.Prefixed(text[:at+1], completeQualifier(path, text[at+1:]))
	}
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		return append(cli.WithPrefix(FormatNames, text), cli.WithPrefix([]string{"entry=", "kind=", "coords=", "nodes=", "dims=", "base=", "stored="}, text)...)
	}
	switch key {
	case "entry":
		return cli.Prefixed("entry=", cli.WithPrefix(entries(path), value))
	case "coords", "nodes":
		return cli.CompleteList(key+"=", entries(path), value)
	case "kind":
		return cli.Prefixed("kind=", cli.WithPrefix(kindNames(), value))
	case "base":
		return cli.Prefixed("base=", cli.WithPrefix([]string{"0", "1"}, value))
	case "stored":
		return cli.Prefixed("stored=", cli.WithPrefix(storedWords(), value))
	}
	return nil
}

// entries are the names of what is in a file of several things.
func entries(path string) []string {
	items, _ := file.List(path) // nothing is proposed of what cannot be read
	var names []string
	for _, item := range items {
		names = append(names, item.Entry)
	}
	return names
}
