package operand

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// Items lists what is in a file of several things, if none of them is named.
func Items(ctx context.Context, src Source, q Qualifiers) ([]file.Item, error) {
	path, ok := src.(DiskFile)
	if !ok || q.entry != "" || q.coords != nil || q.kind != "" || path == Standard {
		return nil, nil
	}
	return cli.Await(ctx, func() ([]file.Item, error) {
		items, err := file.List(string(path), file.SpellOptions(spelled))
		if err != nil && len(items) == 0 {
			return nil, nil // reading says it better
		}
		return items, err
	})
}

// List prints what is in a file.
func List(ctx context.Context, a *cli.Env, path string) error {
	items, err := cli.Await(ctx, func() ([]file.Item, error) { return file.List(path, file.SpellOptions(spelled)) })
	if err != nil {
		return err
	}
	switch info, err := os.Stat(path); {
	case len(items) > 0:
		PrintItems(a, path, items)
	case err == nil && info.IsDir() && !holdsTensor(path):
		return listFolder(a, path)
	default:
		a.Printf("%s holds one tensor\n", path)
	}
	return nil
}

// holdsTensor reports whether a folder is itself a tensor: one of arrays, or of Zarr.
func holdsTensor(folder string) bool {
	return slices.ContainsFunc([]string{"binsparse.json", ".zgroup", ".zarray", "zarr.json"}, func(name string) bool {
		_, err := os.Stat(filepath.Join(folder, name))
		return err == nil
	})
}

// listFolder prints what in a folder can be read: files by their names, and folders.
func listFolder(a *cli.Env, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch name := cli.Printable(e.Name()); {
		case e.IsDir():
			a.Printf("%s/\n", name)
		case Readable(e.Name()):
			a.Printf("%s\n", name)
		}
	}
	return nil
}

// Readable reports whether tensors are read from files of that name.
func Readable(name string) bool {
	plain := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".bz2")
	return slices.ContainsFunc(file.Kinds(), func(k file.Kind) bool {
		return slices.ContainsFunc(k.Extensions, func(e string) bool { return strings.HasSuffix(plain, e) })
	})
}

// PrintItems prints what is in a file, with the words that name it.
func PrintItems(a *cli.Env, path string, items []file.Item) {
	rows := [][]string{{"to read it", "holds", "shape", "type", "stored"}}
	for _, item := range items {
		row := []string{":entry=" + cli.Printable(item.Entry), item.Holds, "", "", ""}
		if item.Shape != nil {
			row[2] = cli.FormatShape(item.Shape)
		}
		if item.DType.Valid() {
			row[3] = item.DType.String()
		}
		if item.Stored >= 0 {
			row[4] = units.FormatCount(item.Stored)
		}
		if item.Note != "" {
			row[4] = "(" + cli.Printable(item.Note) + ")"
		}
		rows = append(rows, row)
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for k, cell := range row {
			widths[k] = max(widths[k], len([]rune(cell)))
		}
	}
	a.Printf("%s holds:\n", path)
	for _, row := range rows {
		var b strings.Builder
		for k, cell := range row {
			fmt.Fprintf(&b, "%-*s  ", widths[k], cell)
		}
		a.Printf("%s\n", strings.TrimRight(b.String(), " "))
	}
	if columns := slices.ContainsFunc(items, func(item file.Item) bool { return item.Holds == "column" }); columns {
		a.Printf("to read rows as entries: %s, or of a graph %s, with :entry=NAME for their values\n", optionWords["Coords"], optionWords["Nodes"])
	}
}
