package explorer

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Copies are the question as others ask it.
type Copies struct {
	Shell string `json:"shell"`
	Go    string `json:"go"`
	C     string `json:"c"`
}

func (s *Service) copies(_ context.Context, r *Request) (any, error) {
	return &Copies{shell(r), goProgram(r), header(r)}, nil
}

// shell is a command line that runs the program. What was typed in becomes a file first.
func shell(r *Request) string {
	var before, args strings.Builder
	for i := range r.Operands {
		o := &r.Operands[i]
		value := o.Name + "=" + o.source()
		switch {
		case !o.said():
			value = o.Name
		case strings.HasPrefix(o.Text, "["):
			value = o.Name + "=" + strings.Join(strings.Fields(o.Text), "")
		case o.Text != "":
			fmt.Fprintf(&before, "cat > %s <<'END'\n%sEND\n", o.Name+".mtx", matrixMarket(o.Text))
			value = o.Name + "=" + o.Name + ".mtx"
		}
		q := o.qualifiers()
		if q != "" {
			value += ":" + q
		}
		if o.said() || q != "" {
			args.WriteString(" " + quote(value))
		}
		if o.Fill != "" {
			args.WriteString(" --fill " + quote(o.Name+"="+o.Fill))
		}
		if o.Shape != nil {
			args.WriteString(" --shape " + quote(o.Name+"="+strings.Trim(strings.ReplaceAll(fmt.Sprint(o.Shape), " ", ","), "[]")))
		}
	}
	return before.String() + "lacuna eval " + quote(r.Program) + args.String() + r.Options.flags() + "\n"
}

// source is how the command line makes the operand's value.
func (o *Operand) source() string {
	switch {
	case o.Number != "":
		return o.Number
	case o.Random == nil:
		return o.File
	case o.Random.Range:
		return fmt.Sprintf("range(%d)", o.Random.Shape[0])
	}
	list := make([]string, 0, len(o.Random.Shape)+2)
	for _, n := range o.Random.Shape {
		list = append(list, strconv.FormatInt(n, 10))
	}
	if d := o.Random.Density; d != nil {
		list = append(list, "density="+strconv.FormatFloat(*d, 'g', -1, 64))
	}
	if n := o.Random.NNZ; n != nil {
		list = append(list, fmt.Sprintf("nnz=%d", *n))
	}
	return "random(" + strings.Join(append(list, fmt.Sprintf("seed=%d", max(o.Random.Seed, 1))), ",") + ")"
}

func (o *Operand) qualifiers() string {
	if o.DType == "" {
		return o.Format
	}
	return o.Format + "[" + o.DType + "]"
}

// matrixMarket is a typed matrix as a file; a vector is one of one row.
func matrixMarket(text string) string {
	rows := strings.Split(strings.ReplaceAll(strings.TrimSpace(text), ";", "\n"), "\n")
	var entries strings.Builder
	columns, n := 0, 0
	for i, row := range rows {
		words := strings.Fields(strings.ReplaceAll(row, ",", " "))
		columns = len(words)
		for j, w := range words {
			if w != "." {
				n++
				if len(rows) == 1 {
					fmt.Fprintf(&entries, "%d %s\n", j+1, w)
				} else {
					fmt.Fprintf(&entries, "%d %d %s\n", i+1, j+1, w)
				}
			}
		}
	}
	if len(rows) == 1 {
		return fmt.Sprintf("%%%%MatrixMarket vector coordinate real general\n%d %d\n%s", columns, n, entries.String())
	}
	return fmt.Sprintf("%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n%s", len(rows), columns, n, entries.String())
}

func quote(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=:._-/+,%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// goProgram is a program in Go. What was drawn at random comes from files that the command line makes.
func goProgram(r *Request) string {
	var before, args, options strings.Builder
	option := func(format string, values ...any) { fmt.Fprintf(&options, ",\n\t\t"+format, values...) }
	if r.Options.Strict {
		option("lacuna.StrictIEEE()")
	}
	if r.Options.AsWritten {
		option("lacuna.AsWritten()")
	}
	for _, text := range r.Options.Schedule {
		option("lacuna.Schedule(%q)", text)
	}
	ranks := ranksAssigned(r.Program)
	for i := range r.Operands {
		o := &r.Operands[i]
		switch {
		case o.given():
			value := o.goValue(&before)
			if o.Fill != "" && o.GoValue == "" {
				value = fmt.Sprintf("refilled(%s, must(tensor.ParseScalar(%q, tensor.Float64)))", value, o.Fill)
			}
			fmt.Fprintf(&args, "\t\t%q: %s,\n", o.Name, value)
		case o.Format != "":
			option("lacuna.Result(%q, must(tensor.ParseFormat(%q, %d)))", o.Name, o.Format, ranks[o.Name])
		}
		if !o.given() && o.DType != "" {
			option("lacuna.ResultType(%q, must(tensor.ParseDType(%q)))", o.Name, o.DType)
		}
		if o.Shape != nil {
			option("lacuna.Shape(%q, %s)", o.Name, strings.Trim(strings.ReplaceAll(fmt.Sprint(o.Shape), " ", ", "), "[]"))
		}
		if !o.given() && o.Fill != "" {
			option("lacuna.Fill(%q, must(tensor.ParseScalar(%q, tensor.Float64)))", o.Name, o.Fill)
		}
	}
	body := fmt.Sprintf("func main() {\n%s\targs := lacuna.Args{\n%s\t}\n\tresults := must(lacuna.NewSession().EvalAll(context.Background(), %s, args%s))\n"+
		"\tfor name, t := range results {\n\t\tfmt.Printf(\"%%s:\\n%%v\\n\", name, tensor.Formatted(t))\n\t}\n}\n", &before, &args, goQuote(r.Program), &options)
	if strings.Contains(body, "refilled(") {
		body = goRefilled + body
	}
	if strings.Contains(body, "filledWith(") {
		body = goFilledWith + body
	}
	imports := []string{"context", "fmt", "log"}
	if strings.Contains(body, "strings.") {
		imports = append(imports, "strings")
	}
	imports = append(imports, "", module)
	for _, name := range []string{"tensor", "tensor/file"} {
		if strings.Contains(body, path.Base(name)+".") {
			imports = append(imports, module+"/"+name)
		}
	}
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for _, name := range imports {
		if name != "" {
			name = "\t" + strconv.Quote(name)
		}
		b.WriteString(name + "\n")
	}
	b.WriteString(")\n\nfunc must[T any](v T, err error) T {\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\treturn v\n}\n\n" + body)
	return b.String()
}

// ranksAssigned are the ranks of what statements assign, which the text tells.
func ranksAssigned(program string) map[string]int {
	ranks := map[string]int{}
	if f, err := lang.Parse(program); err == nil {
		for _, s := range f.Stmts {
			ranks[s.LHS.Name] = len(s.LHS.Indices)
		}
	}
	return ranks
}

// goRefilled is refilled, for the program.
const goRefilled = `// refilled has the entries of a tensor, and another value where it has none.
func refilled(t *tensor.Tensor, fill tensor.Scalar) *tensor.Tensor {
	coords, values, err := t.ToCoords()
	if err != nil {
		log.Fatal(err)
	}
	return must(tensor.FromCoords(t.Shape(), t.Format().Standard(), coords, values, tensor.WithFill(fill)))
}

`

// GoFilled is an expression for a tensor all elements of which have one value.
func GoFilled(x tensor.Scalar, f tensor.Format, shape []int64) string {
	return fmt.Sprintf("filledWith(must(tensor.ParseScalar(%q, must(tensor.ParseDType(%q)))), %q%s)", x, x.DType(), f,
		strings.TrimRight(", "+strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]"), ", "))
}

// goFilledWith is filledWith, for the program.
const goFilledWith = `// filledWith has x everywhere.
func filledWith(x tensor.Scalar, format string, shape ...int64) *tensor.Tensor {
	n := 1
	for _, extent := range shape {
		n *= int(extent)
	}
	values := must(tensor.MakeArray(x.DType(), n))
	for i := range n {
		values.SetScalar(i, x)
	}
	return must(tensor.FromDense(shape, must(tensor.ParseFormat(format, len(shape))), values))
}

`

const module = "github.com/lacuna-sparse/lacuna"

// goValue is an expression for the value of an operand; what is to be done for it before goes to before.
func (o *Operand) goValue(before *strings.Builder) string {
	if o.GoValue != "" {
		return o.GoValue
	}
	var options string
	format, dtype := o.Format, o.DType
	if t, err := parseGrid(o.Text, tensor.Invalid, nil); err == nil && strings.HasPrefix(o.Text, "[") { // numbers in brackets tell their type
		if dtype == "" {
			dtype = t.DType().String()
		}
		if format == "" && t.Format().IsDense() {
			format = "D"
		}
	}
	if format != "" {
		options += fmt.Sprintf(", file.FormatNamed(%q)", format)
	}
	if dtype != "" {
		options += fmt.Sprintf(", file.As(must(tensor.ParseDType(%q)))", dtype)
	}
	switch {
	case o.Number != "":
		dt := o.DType
		if dt == "" {
			dt = "f64"
		}
		return fmt.Sprintf("tensor.ScalarTensor(must(tensor.ParseScalar(%q, must(tensor.ParseDType(%q)))))", o.Number, dt)
	case o.Text != "":
		return fmt.Sprintf("must(file.ReadFrom(%q, strings.NewReader(%s)%s))", o.Name+".mtx", goQuote(matrixMarket(strings.Trim(o.Text, "[] \n"))), options)
	case o.Random != nil:
		name := o.Name + ".bsp.h5"
		fmt.Fprintf(before, "\t// lacuna convert %s -o %s\n", quote(o.source()), name)
		return fmt.Sprintf("must(file.Read(%q%s))", name, options)
	}
	return fmt.Sprintf("must(file.Read(%q%s))", o.File, options)
}

func goQuote(s string) string {
	if strings.ContainsAny(s, "`\r") {
		return strconv.Quote(s)
	}
	return "`" + s + "`"
}

// header is how to get and call the kernel from C.
func header(r *Request) string {
	args := ""
	for i := range r.Operands {
		o := &r.Operands[i]
		format := o.Format
		if o.DType != "" {
			format += "[" + o.DType + "]"
		}
		if format != "" && o.Number == "" {
			args += " " + quote(o.Name+":"+format)
		}
	}
	return "lacuna build " + quote(r.Program) + args + r.Options.flags() + " --name kernel -o kernel.h -o kernel.o\n\n" +
		"#include \"kernel.h\"\n\nlacuna_args args = {0}; /* tensors in the order of kernel.h; allocate and release for results */\n" +
		"if (kernel(&args) != 0)\n\tfputs(args.message, stderr);\n"
}
