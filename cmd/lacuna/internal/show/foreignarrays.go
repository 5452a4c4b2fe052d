package show

import (
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/interop"
)

// Storages are the programs whose view of a tensor's arrays inspect prints.
var Storages = []string{"mlir", "taco"}

// storageRow is one array in another program's terms.
type storageRow struct {
	level, kind, axis, size string
	ours, theirs            string
	array                   tensor.Array
}

// Storage prints what a stored tensor is to MLIR or TACO, and which of our arrays are
// which of theirs.
func Storage(a *cli.Env, as string, t *tensor.Tensor) error {
	var pos, crd []tensor.Array
	posName, crdName := "positions", "coordinates"
	var names []string
	switch as {
	case "mlir":
		m, err := interop.ToMLIR(t)
		if err != nil {
			return err
		}
		if t, err = interop.FromMLIR(m); err != nil {
			return err
		}
		a.Printf("%s\n", m.Encoding)
		pos, crd = m.Positions, m.Coordinates
		for _, l := range t.Format().Physical() {
			names = append(names, l.String())
		}
	case "taco":
		s, err := interop.ToTACO(t)
		if err != nil {
			return err
		}
		if t, err = interop.FromTACO(s); err != nil {
			return err
		}
		a.Printf("%s\n", s.Descriptor("A"))
		pos, crd = s.Pos, s.Crd
		names = strings.Split(s.Modes, "")
		posName, crdName = "pos", "crd"
	}
	order := t.Format().Order()
	var rows []storageRow
	for k, l := range t.Levels() {
		row := storageRow{level: fmt.Sprint(k), kind: names[k], axis: fmt.Sprint(order[k]), size: fmt.Sprint(l.Size)}
		for _, buffer := range []struct {
			ours, theirs string
			array        tensor.Array
		}{{ours(k), posName, pos[k]}, {fmt.Sprintf("indices_%d", k), crdName, crd[k]}} {
			if !buffer.array.DType().Valid() {
				continue
			}
			row.ours, row.theirs, row.array = buffer.ours, buffer.theirs, buffer.array
			rows = append(rows, row)
			row = storageRow{}
		}
		if row.level != "" {
			rows = append(rows, row)
		}
	}
	rows = append(rows, storageRow{ours: "values", theirs: "values", array: t.Values()})
	width := len("kind")
	for _, name := range names {
		width = max(width, len(name))
	}
	a.Printf("\n%-6s %-*s %5s %10s  %-12s %-12s %-5s %10s  %s\n", "level", width, "kind", "axis", "size", as, "here", "type", "length", "elements")
	for _, r := range rows {
		length := ""
		dtype := ""
		if r.array.DType().Valid() {
			length, dtype = fmt.Sprint(r.array.Len()), r.array.DType().String()
		}
		a.Printf("%s\n", strings.TrimRight(fmt.Sprintf("%-6s %-*s %5s %10s  %-12s %-12s %-5s %10s  %s",
			r.level, width, r.kind, r.axis, r.size, r.theirs, r.ours, dtype, length, firstElements(r.array)), " "))
	}
	return nil
}

// ours is the name of our pointer array to level k.
func ours(k int) string {
	if k == 0 {
		return "(implied)"
	}
	return fmt.Sprintf("pointers_%d", k-1)
}

// firstElements writes the first few elements of an array.
func firstElements(a tensor.Array) string {
	const most = 8
	var parts []string
	for i := range min(a.Len(), most) {
		parts = append(parts, a.Scalar(i).String())
	}
	if a.Len() > most {
		parts = append(parts, gap)
	}
	return strings.Join(parts, " ")
}
