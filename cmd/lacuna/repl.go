package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/peterh/liner"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/show"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// repl is a conversation: names keep the tensors they were given.
type repl struct {
	app      *app
	session  *lacuna.Session
	engine   runtime.Engine
	kept     map[string]kept            // what names stand for
	declared map[string]operand.Operand // how results are to be stored
	timed    bool
	last     string // the program that ran last
}

// kept is a source that is in memory already: a name of the conversation.
type kept struct {
	name   string
	tensor *tensor.Tensor
	labels []string       // what its values stand for, if they are categories
	names  show.AxisNames // the labels along its axes
}

func (k kept) String() string { return k.name }

// Load implements operand.Source.
func (k kept) Load(ctx context.Context, _ *cli.Env, q operand.Qualifiers, fill *tensor.Scalar) (*tensor.Tensor, error) {
	if q.OfFile() || q.DType.Valid() || fill != nil {
		return nil, cli.Usagef("%s is in memory: it takes a format, but no type or option; write a program, such as B(i) = f32(%s(i))", k.name, k.name)
	}
	if q.Labels != nil {
		*q.Labels = k.labels
	}
	f, given, err := q.FormatFor(k.tensor.Rank())
	if err != nil || !given {
		return k.tensor, err
	}
	return operand.Store(ctx, k.tensor, f)
}

// lineReader is where the lines of a conversation come from.
type lineReader interface {
	// read returns the next line; more says that it continues the one before.
	read(more bool) (string, error)
	close()
}

// replName is the name of the command.
const replName = "repl"

func newREPL(a *app) *cobra.Command {
	var engine string
	cmd := &cobra.Command{
		Use:   replName + " [NAME=FILE | NAME=random(…) | NAME=NUMBER]…",
		Short: "Run programs one after the other on tensors that have names",
		Long: `Repl reads programs and runs them; names keep the tensors that they were given.

  A = web.mtx:CSR           a name for a file, a number or random(…), as eval takes them
  y(i) = A(i,j)*x(j)        a program: its results are kept, and printed
  y:S                       store results called y so; A:CSC stores A otherwise
  A                         print what a name stands for
  .help                     the other commands

A line that ends in an operator, a comma, a semicolon or \, or with a parenthesis open, goes on in
the next; an empty one ends it. Ctrl-C ends a run, Ctrl-D the session. What comes from a pipe or a
file is run line by line, up to the first mistake.`,
		Example: `  lacuna repl A=web.mtx:CSR
  echo 's = sum_{i,j} A(i,j)' | lacuna repl A=web.mtx`,
		ValidArgsFunction: completeValue,
		Args:              cli.Arguments(0, -1, "operands"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := &repl{app: a, kept: map[string]kept{}, declared: map[string]operand.Operand{}}
			if err := r.use(engine); err != nil {
				return err
			}
			for _, arg := range args {
				if err := r.assign(cmd.Context(), arg); err != nil {
					return err
				}
			}
			return r.run(cmd.Context(), r.lines())
		},
	}
	cmd.Flags().StringVar(&engine, "engine", runtime.AutoName, "auto, interp, cpu or cuda")
	cmd.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions(engines, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// use sets the engine, and forgets what was compiled for another.
func (r *repl) use(name string) error {
	if err := checkEngine(name); err != nil {
		return err
	}
	engine, err := runtime.EngineByName(name, r.app.Notice)
	if err != nil {
		return err
	}
	r.engine = engine
	r.session = lacuna.NewSession(lacuna.WithEngine(engine), lacuna.WithNotice(r.app.Notice))
	return nil
}

// lines is where lines come from: an editor at a terminal, else standard input as it is.
func (r *repl) lines() lineReader {
	if term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) && liner.TerminalSupported() {
		return newEditor(r)
	}
	s := bufio.NewScanner(os.Stdin)
	s.Buffer(nil, longestLine)
	return pipe{s}
}

// longestLine bounds a line from a pipe.
const longestLine = 1 << 20

// pipe reads lines without showing a prompt.
type pipe struct{ *bufio.Scanner }

func (p pipe) read(bool) (string, error) {
	if p.Scan() {
		return p.Text(), nil
	}
	if err := p.Err(); err != nil {
		return "", fmt.Errorf("reading standard input: %w", err)
	}
	return "", io.EOF
}

func (p pipe) close() {}

// run reads and runs until the lines end. At a terminal mistakes end nothing.
func (r *repl) run(ctx context.Context, in lineReader) error {
	defer in.close()
	_, scripted := in.(pipe)
	if !scripted { // an interrupt between a result and the next prompt, when the editor does not have the terminal, ends nothing
		ignored := make(chan os.Signal, 1)
		signal.Notify(ignored, os.Interrupt)
		defer signal.Stop(ignored)
	}
	for {
		r.app.Stdout.Flush()
		text, err := r.read(in)
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, liner.ErrPromptAborted):
			continue
		case err != nil:
			return err
		}
		err = r.interruptible(ctx, text)
		if err == errQuit {
			return nil
		}
		if err != nil && (scripted || ctx.Err() != nil) {
			return err
		}
		if err != nil {
			r.app.Stdout.Flush()
			r.app.Tell(err)
		}
	}
}

// read joins the lines of one input.
func (r *repl) read(in lineReader) (string, error) {
	text, err := in.read(false)
	for err == nil && (unclosed(text) || dangling(text) && !r.isAssignment(text)) {
		var line string
		if line, err = in.read(true); err == io.EOF {
			return text, nil
		}
		text = strings.TrimSuffix(strings.TrimRight(text, " \t"), `\`) + "\n" + line
		if strings.TrimSpace(line) == "" {
			break
		}
	}
	return strings.TrimSpace(text), err
}

// unclosed reports whether an input goes on in the next line because of a bracket.
func unclosed(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" || text[0] == '.' || text[0] == '#' {
		return false
	}
	open := strings.Count(text, "(") + strings.Count(text, "[") + strings.Count(text, "{")
	closed := strings.Count(text, ")") + strings.Count(text, "]") + strings.Count(text, "}")
	return open > closed
}

// dangling reports whether a program goes on in the next line because of what it ends in.
func dangling(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" || text[0] == '.' || text[0] == '#' {
		return false
	}
	if strings.ContainsRune(`+-*/^=<>,;\`, rune(text[len(text)-1])) {
		return true
	}
	return strings.HasSuffix(text, " and") || strings.HasSuffix(text, " or") || strings.HasSuffix(text, " not")
}

// errQuit is the error of an input that ends the session.
var errQuit = errors.New("quit")

// interruptible does what an input says until it is done or interrupted.
func (r *repl) interruptible(ctx context.Context, text string) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	defer r.app.HideProgress()
	defer cli.Recovered(&err)
	return r.do(ctx, text)
}

// do does what an input says.
func (r *repl) do(ctx context.Context, text string) error {
	switch {
	case text == "" || text[0] == '#':
		return nil
	case text[0] == '.' || isCommand(text):
		return r.command(ctx, text)
	case operand.IsName(text):
		k, ok := r.kept[text]
		if !ok {
			return r.unknown(text)
		}
		show.Named(r.app.Stdout, text, k.tensor, k.names)
		if k.labels != nil {
			r.app.Printf("  labels %s\n", show.Labels(k.labels))
		}
		return nil
	case r.isAssignment(text):
		return r.assign(ctx, text)
	}
	return r.eval(ctx, text)
}

// unknown says that there is no such name.
func (r *repl) unknown(name string) error {
	names := slices.Collect(maps.Keys(r.kept))
	return fmt.Errorf("%s has no value%s: give it one, such as %s = FILE; .ls lists what has", name, cli.DidYouMean(name, names), name)
}

// isAssignment reports whether an input gives a name to a file, a number or the like, or
// declares a format: what is no program.
func (r *repl) isAssignment(text string) bool {
	name, value, ok := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); !ok || !operand.IsName(name) {
		name, format, ok := strings.Cut(text, ":")
		return ok && operand.IsName(name) && !strings.ContainsAny(format, "=(")
	}
	value = strings.TrimSpace(value)
	path, _, _ := strings.Cut(value, ":")
	if _, ok := r.kept[path]; ok || operand.FileExists(value) || operand.FileExists(path) || operand.IsNumber(path) {
		return value != ""
	}
	if operand.IsGenerator(strings.TrimSpace(strings.SplitN(value, "(", 2)[0])) || strings.HasPrefix(value, "[") {
		return true
	}
	_, err := lang.Parse(text)
	return err != nil && !strings.ContainsAny(path, " *+(") && strings.ContainsAny(path, "./")
}

// assign does what NAME=VALUE and NAME:FORMAT say.
func (r *repl) assign(ctx context.Context, text string) error {
	if name, value, ok := strings.Cut(text, "="); ok {
		text = strings.TrimSpace(name) + "=" + strings.TrimSpace(value)
	}
	o, err := operand.Parse(text)
	if err != nil {
		return err
	}
	if lang.Reserved(o.Name) {
		return fmt.Errorf("%s is a word of the language, which programs cannot read as a tensor: take another name", o.Name)
	}
	old, isKept := r.kept[o.Name]
	switch {
	case o.Source == nil && !isKept:
		r.declared[o.Name] = o
		return nil
	case o.Source == nil: // it has a value, to be stored otherwise
		o.Source = old
	default:
		if err := r.alias(&o); err != nil {
			return err
		}
	}
	if err := o.Qual.NoParts(); err != nil {
		return err
	}
	k := kept{name: o.Name}
	o.Qual.Labels = &k.labels
	if k.tensor, err = o.Source.Load(ctx, r.app.Env, o.Qual, nil); err != nil {
		return err
	}
	if from, ok := o.Source.(kept); ok {
		k.names = from.names
	}
	r.kept[o.Name] = k
	r.app.Printf("%s: %s\n", o.Name, show.Describe(k.tensor))
	return nil
}

// alias has an operand whose source looks like a file be a name that has a value, if there is no such file.
func (r *repl) alias(o *operand.Operand) (err error) {
	path, rest, more := strings.Cut(o.Source.String(), ":")
	k, ok := r.kept[path]
	if !ok || operand.FileExists(path) {
		return nil
	}
	o.Source = k
	if more {
		o.Qual, err = operand.ParseQualifiers(rest)
	}
	return err
}

// operands are what a program takes of the names that have values, and how its results are
// declared.
func (r *repl) operands(p *program) []operand.Operand {
	var list []operand.Operand
	for _, name := range p.order {
		u := p.uses[name]
		k, ok := r.kept[name]
		if ok && u.needed && (u.certain || k.tensor.Rank() == 0 && p.file.MisusedTensor(name) == nil) {
			list = append(list, operand.Operand{Name: name, Source: k})
		} else if d, ok := r.declared[name]; ok && u.assigned {
			list = append(list, d)
		}
	}
	return list
}

// eval runs a program and keeps its results.
func (r *repl) eval(ctx context.Context, text string) error {
	p, err := parseProgram(text)
	if err != nil {
		return err
	}
	r.last = text
	e := &evaluation{app: r.app, program: p, operands: r.operands(p), session: r.session}
	if err := e.wishes.parse(); err != nil {
		return err
	}
	if err := e.load(ctx); err != nil {
		return err
	}
	out, times, err := e.compute(ctx, r.engine)
	if err != nil {
		return cli.Advise(err, "repl")
	}
	for name, t := range out {
		r.kept[name] = kept{name: name, tensor: t, names: e.names[name]}
	}
	if err := e.deliver(ctx, out); err != nil {
		return err
	}
	if r.timed {
		times.print(r.app, r.engine.Name())
	}
	return nil
}
