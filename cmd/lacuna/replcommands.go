package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/show"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// replCommand is a command of a conversation, which begins with a dot.
type replCommand struct {
	name, args, does string
	run              func(r *repl, ctx context.Context, rest string) error
}

// replCommands is the table of all of them; it is filled by init because help lists it.
var replCommands []replCommand

func init() {
	replCommands = []replCommand{
		{"help", "", "this list", (*repl).help},
		{"ls", "[FILE]", "names and what they stand for; or what is in a file", (*repl).ls},
		{"explain", "[STAGE] [PROGRAM]", "a program, or the last, at a stage of its compilation", (*repl).explain},
		{"formats", "", "the formats in which tensors can be stored", (*repl).formats},
		{"save", "NAME FILE", "write what a name stands for", (*repl).save},
		{"plot", "NAME [FILE]", "draw where entries are, here or to a picture", (*repl).plot},
		{"inspect", "NAME", "what there is to know of a tensor", (*repl).inspect},
		{"time", "[on|off]", "print how long programs take", (*repl).time},
		{"engine", "[NAME]", "run on auto, interp, cpu or cuda; without a name, say which it is", func(r *repl, _ context.Context, rest string) error {
			if rest == "" {
				r.app.Printf("%s\n", r.engine.Name())
				return nil
			}
			return r.use(rest)
		}},
		{"drop", "NAME", "forget a name", (*repl).drop},
		{"quit", "", "end the session, as Ctrl-D does", func(*repl, context.Context, string) error { return errQuit }},
	}
}

// isCommand reports whether an input is a command that people type without its dot.
func isCommand(text string) bool {
	return slices.Contains([]string{"help", "quit", "exit"}, text)
}

// command runs a command.
func (r *repl) command(ctx context.Context, text string) error {
	name, rest, _ := strings.Cut(strings.TrimPrefix(text, "."), " ")
	if name == "exit" {
		name = "quit"
	}
	var names []string
	for _, c := range replCommands {
		if c.name == name {
			return c.run(r, ctx, strings.TrimSpace(rest))
		}
		names = append(names, c.name)
	}
	return cli.Usagef("there is no command .%s%s: .help lists them", name, cli.DidYouMean(name, names))
}

func (r *repl) help(context.Context, string) error {
	for _, c := range replCommands {
		r.app.Printf("  .%-28s %s\n", c.name+" "+c.args, c.does)
	}
	r.app.Printf("\nA program runs, and its results keep their names: y(i) = A(i,j)*x(j). NAME = FILE gives a file a name.\n")
	return nil
}

// ls lists the names, or what is in a file.
func (r *repl) ls(ctx context.Context, path string) error {
	if path != "" {
		return operand.List(ctx, r.app.Env, path)
	}
	for _, name := range slices.Sorted(maps.Keys(r.kept)) {
		r.app.Printf("%s: %s\n", name, show.Describe(r.kept[name].tensor))
	}
	for _, name := range slices.Sorted(maps.Keys(r.declared)) {
		r.app.Printf("%s: to be stored as %s\n", name, r.declared[name].Qual)
	}
	return nil
}

// explain prints a program at some stages.
func (r *repl) explain(ctx context.Context, rest string) error {
	stage, text := "plan", rest
	if word, more, _ := strings.Cut(rest, " "); word != "" {
		if _, err := parseStages(word); err == nil {
			stage, text = word, strings.TrimSpace(more)
		}
	}
	if text == "" {
		text = r.last
	}
	if text == "" {
		return cli.Usagef(".explain needs a program: none has run")
	}
	stages, err := parseStages(stage)
	if err != nil {
		return err
	}
	p, err := parseProgram(text)
	if err != nil {
		return err
	}
	var w wishes
	if err := w.parse(); err != nil {
		return err
	}
	kernels, err := r.app.compileStages(ctx, r.engine.Name(), p, r.operands(p), &w, stages)
	if err != nil {
		return cli.Advise(err, "repl")
	}
	return r.app.explain(ctx, kernels, stages, stage == allStages)
}

// formats prints the formats that have names.
func (r *repl) formats(context.Context, string) error {
	for _, name := range operand.FormatNames {
		rank := 2
		if name == "CSF" {
			rank = 3
		}
		f, err := tensor.ParseFormat(name, rank)
		if err != nil {
			return err
		}
		var levels []string
		for _, l := range f.Physical() {
			levels = append(levels, l.String())
		}
		r.app.Printf("  %-6s rank %d, axes in the order %v: %s\n", name, rank, f.Order(), strings.Join(levels, ", "))
	}
	r.app.Printf("Others are spelled by levels: S sparse, C compressed, DC doubly compressed, D dense, as in C-DC-S, with an order as in C-S[1,0].\n")
	return nil
}

// tensorNamed is what a name stands for.
func (r *repl) tensorNamed(name string) (*tensor.Tensor, error) {
	k, ok := r.kept[name]
	if name == "" {
		return nil, cli.Usagef("name a tensor behind the command: .ls lists them")
	}
	if !ok {
		return nil, r.unknown(name)
	}
	return k.tensor, nil
}

// save writes a tensor.
func (r *repl) save(ctx context.Context, rest string) error {
	name, path, ok := strings.Cut(rest, " ")
	if !ok {
		return cli.Usagef("write .save NAME FILE, such as .save y y.npy")
	}
	t, err := r.tensorNamed(name)
	if err != nil {
		return err
	}
	d, err := operand.ParseDestination("out=" + strings.TrimSpace(path))
	if err != nil {
		return err
	}
	d.Names = r.kept[name].names
	return operand.Write(ctx, r.app.Env, d, t)
}

// plot draws where the entries of a tensor are.
func (r *repl) plot(ctx context.Context, rest string) error {
	name, path, _ := strings.Cut(rest, " ")
	t, err := r.tensorNamed(name)
	if err != nil {
		return err
	}
	if t.Rank() == 0 {
		return fmt.Errorf("%s is a number: there is nothing to draw", name)
	}
	if path = strings.TrimSpace(path); path != "" {
		if err := checkPicture(".plot "+name, path); err != nil {
			return err
		}
	}
	coo, err := r.app.entries(ctx, t)
	if err != nil {
		return err
	}
	return r.app.plot(name, path, coo)
}

// inspect describes a tensor.
func (r *repl) inspect(ctx context.Context, name string) error {
	if _, err := r.tensorNamed(name); err != nil {
		return err
	}
	return r.app.inspect(ctx, r.kept[name], operand.Qualifiers{}, "", "")
}

// time turns the printing of times on and off.
func (r *repl) time(_ context.Context, rest string) error {
	switch rest {
	case "on", "off", "":
		r.timed = rest == "on" || rest == "" && !r.timed
		return nil
	}
	return cli.Usagef(".time is on or off, not %s", rest)
}

// drop forgets a name.
func (r *repl) drop(_ context.Context, name string) error {
	if name == "" {
		return cli.Usagef("write .drop NAME, such as .drop y")
	}
	_, isKept := r.kept[name]
	_, isDeclared := r.declared[name]
	if !isKept && !isDeclared {
		return r.unknown(name)
	}
	delete(r.kept, name)
	delete(r.declared, name)
	return nil
}

// stageWords are what .explain takes before a program.
func stageWords() []string { return append(lacuna.Stages(), allStages) }
