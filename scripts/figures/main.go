// Figures prints what there is to know of the shape of the house: the lines of each package without its tests, and of the
// arrows between files of a package those that run upwards.
//
//	go run ./scripts/figures
//
// A file points to another that declares a name it uses. Files that point to each other, perhaps by way of others, stand in a circle;
// with the files in a row, the arrows that point back in it are those that run upwards. The row is
// found greedily: the file comes first whose surplus of arrows that leave it is the greatest (Eades, Lin, Smyth 1993, "A fast and
// effective heuristic for the feedback arc set problem").
package main

import (
	"bytes"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/packages"
)

func main() {
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps}, "./...")
	if err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
	lines, arrows, upwards := 0, 0, 0
	fmt.Println("| package | files | lines | arrows | upwards |\n|---|---|---|---|---|")
	for _, p := range loaded {
		n := 0
		for _, name := range p.GoFiles {
			text, err := os.ReadFile(name)
			if err != nil {
				fmt.Fprintln(os.Stderr, "figures:", err)
				os.Exit(1)
			}
			n += bytes.Count(text, []byte("\n"))
		}
		uses := arrowsOf(p)
		all, up := count(uses)
		lines, arrows, upwards = lines+n, arrows+all, upwards+up
		fmt.Printf("| %s | %d | %d | %d | %d |\n", p.PkgPath, len(p.GoFiles), n, all, up)
	}
	fmt.Printf("| all | | %d | %d | %d |\n", lines, arrows, upwards)
}

// arrowsOf says for each file of a package which others it uses names of.
func arrowsOf(p *packages.Package) map[string]map[string]bool {
	uses := map[string]map[string]bool{}
	file := func(o types.Object) string { return filepath.Base(p.Fset.Position(o.Pos()).Filename) }
	for _, f := range p.GoFiles {
		uses[filepath.Base(f)] = map[string]bool{}
	}
	for id, o := range p.TypesInfo.Uses {
		from := filepath.Base(p.Fset.Position(id.Pos()).Filename)
		if o.Pkg() == p.Types && o.Pos().IsValid() && file(o) != from && uses[from] != nil {
			uses[from][file(o)] = true
		}
	}
	return uses
}

// count is how many arrows there are, and how many run upwards.
func count(uses map[string]map[string]bool) (all, up int) {
	var rest []string
	for f, to := range uses {
		rest, all = append(rest, f), all+len(to)
	}
	slices.Sort(rest)
	for len(rest) > 0 {
		surplus := func(f string) (in, out int) {
			for _, g := range rest {
				if uses[f][g] {
					out++
				}
				if uses[g][f] {
					in++
				}
			}
			return in, out
		}
		best, most, against := 0, -1<<30, 0
		for i, f := range rest {
			in, out := surplus(f)
			if in == 0 {
				best, against = i, 0
				break
			}
			if out-in > most {
				best, most, against = i, out-in, in
			}
		}
		up += against
		rest = slices.Delete(rest, best, best+1)
	}
	return all, up
}
