package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// mutant is one mistake: text put in at places of a file.
type mutant struct {
	id      int
	file    string // from the root of the module
	path    string
	line    int
	what    string
	inserts []insert
	pkg     string // import path

	reached     bool
	short, long string // the test that found it, "" if none did
}

type insert struct {
	at   int // offset in the file
	text string
	end  bool // closes what begins before it
}

func (m *mutant) String() string { return fmt.Sprintf("%s:%d: %s", m.file, m.line, m.what) }

func (m *mutant) verdict() string {
	switch {
	case m.short != "":
		return m.short
	case m.long != "":
		return m.long + " (long)"
	case !m.reached:
		return "none: it makes no difference in any test"
	}
	return "none"
}

// choose draws n mistakes from the packages of the areas, no two in one function.
func choose(areas [][]string, n int, seed uint64) ([]*mutant, error) {
	r := rand.New(rand.NewPCG(seed, 18))
	var chosen []*mutant
	for k, area := range areas {
		var patterns []string
		for _, p := range area {
			patterns = append(patterns, "./"+p)
		}
		loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps}, patterns...)
		if err != nil {
			return nil, err
		}
		var functions [][]*mutant
		for _, p := range loaded {
			if len(p.Errors) > 0 {
				return nil, p.Errors[0]
			}
			for _, file := range p.Syntax {
				for _, d := range file.Decls {
					if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && f.Name.Name != "init" {
						s := sites{pkg: p}
						ast.Walk(&s, f.Body)
						if len(s.found) > 0 {
							functions = append(functions, s.found)
						}
					}
				}
			}
		}
		r.Shuffle(len(functions), func(i, j int) { functions[i], functions[j] = functions[j], functions[i] })
		quota := n*(k+1)/len(areas) - n*k/len(areas)
		for _, f := range functions[:min(quota, len(functions))] {
			m := f[r.IntN(len(f))]
			m.id = len(chosen) + 1
			for i := range m.inserts {
				m.inserts[i].text = strings.ReplaceAll(m.inserts[i].text, "ID", fmt.Sprint(m.id))
			}
			chosen = append(chosen, m)
		}
	}
	return chosen, nil
}

// sites collects the mistakes that a function has room for.
type sites struct {
	pkg   *packages.Package
	found []*mutant
}

func (s *sites) add(at ast.Node, what string, inserts ...insert) {
	position := s.pkg.Fset.Position(at.Pos())
	file, _ := filepath.Rel(root, position.Filename)
	s.found = append(s.found, &mutant{file: file, path: position.Filename, line: position.Line, what: what, inserts: inserts, pkg: s.pkg.PkgPath})
}

func (s *sites) offset(p token.Pos) int { return s.pkg.Fset.Position(p).Offset }

// around puts a call around an expression.
func (s *sites) around(x ast.Expr, call string) []insert {
	return []insert{{s.offset(x.Pos()), call, false}, {s.offset(x.End()), ")", true}}
}

// operands makes a call of the operands of x.
func (s *sites) operands(x *ast.BinaryExpr, call string) []insert {
	list := s.around(x, call)
	return append(list, insert{s.offset(x.OpPos), ", /*", false}, insert{s.offset(x.OpPos) + len(x.Op.String()), "*/", false})
}

func (s *sites) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.FuncLit, *ast.CompositeLit:
	case *ast.BinaryExpr:
		if s.constant(n) {
			return nil
		}
		s.binary(n)
	case *ast.IfStmt:
		if b, ok := s.pkg.TypesInfo.TypeOf(n.Cond).Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 && !named(s.pkg.TypesInfo.TypeOf(n.Cond)) && !s.constant(n.Cond) {
			s.add(n.Cond, "negated condition", s.around(n.Cond, "mutant.Not(ID, ")...)
			s.add(n.Cond, "skipped branch", s.around(n.Cond, "mutant.And(ID, ")...)
		}
	case *ast.BasicLit:
		if t, ok := s.pkg.TypesInfo.TypeOf(n).(*types.Basic); ok && n.Kind == token.INT && t.Info()&types.IsUntyped == 0 && t.Info()&types.IsNumeric != 0 && t.Info()&types.IsComplex == 0 {
			s.add(n, "constant "+n.Value+" + 1", s.around(n, "mutant.Next["+t.Name()+"](ID, ")...)
		}
	case *ast.CaseClause: // its expressions may have to be constants that differ
		s.block(n.Body)
		for _, b := range n.Body {
			ast.Walk(s, b)
		}
		return nil
	case *ast.BlockStmt:
		s.block(n.List)
	case *ast.GenDecl:
		if n.Tok == token.CONST || n.Tok == token.TYPE {
			return nil
		}
	case *ast.ArrayType, *ast.KeyValueExpr:
		return nil
	}
	return s
}

func named(t types.Type) bool { _, ok := t.(*types.Named); return ok }

func (s *sites) constant(x ast.Expr) bool { return s.pkg.TypesInfo.Types[x].Value != nil }

var otherOperator = map[token.Token][2]string{
	token.LSS: {"LessOr", "<="}, token.LEQ: {"Less", "<"}, token.GTR: {"MoreOr", ">="}, token.GEQ: {"More", ">"},
	token.EQL: {"Unequal", "!="}, token.NEQ: {"Equal", "=="},
	token.ADD: {"Minus", "-"}, token.SUB: {"Plus", "+"}, token.MUL: {"Plus2", "+"},
}

func (s *sites) binary(x *ast.BinaryExpr) {
	info := s.pkg.TypesInfo
	if x.Op == token.LAND || x.Op == token.LOR {
		if named(info.TypeOf(x)) {
			return
		}
		call, other := "Or", "||"
		if x.Op == token.LOR {
			call, other = "Both", "&&"
		}
		s.add(x, fmt.Sprintf("%s for %s", other, x.Op), insert{s.offset(x.Pos()), "mutant." + call + "(ID, ", false},
			insert{s.offset(x.OpPos), ", func() bool { return /*", false}, insert{s.offset(x.OpPos) + 2, "*/", false}, insert{s.offset(x.End()), "})", true})
		return
	}
	other, ok := otherOperator[x.Op]
	b, basic := info.TypeOf(x.X).Underlying().(*types.Basic)
	if !ok || !basic || b.Info()&types.IsNumeric == 0 || b.Info()&types.IsComplex != 0 || s.constant(x.X) {
		return
	}
	if _, parameter := info.TypeOf(x.X).(*types.TypeParam); parameter {
		return
	}
	s.add(x, fmt.Sprintf("%s for %s", other[1], x.Op), s.operands(x, "mutant."+other[0]+"(ID, ")...)
}

// block adds dropped statements.
func (s *sites) block(list []ast.Stmt) {
	for _, stmt := range list {
		switch stmt := stmt.(type) {
		case *ast.AssignStmt:
			if stmt.Tok == token.DEFINE {
				continue
			}
		case *ast.IncDecStmt:
		case *ast.ExprStmt:
			if call, ok := stmt.X.(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "panic" {
					continue
				}
			}
		default:
			continue
		}
		s.add(stmt, "dropped statement", insert{s.offset(stmt.Pos()), "if !mutant.Drop(ID) { ", false}, insert{s.offset(stmt.End()), " }", true})
	}
}
