package lang

import (
	"fmt"
	"github.com/lacuna-sparse/lacuna/internal/suggest"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// A schedule says how a statement runs, and nothing of what it means: in what order its loops stand, what is kept in
// workspaces, which operands are stored again. It follows a statement behind the word with, or stands in a text of its own,
// a line for each statement. This file reads and prints it; docs/schedule.md says what each command does, and the planner
// (package ir) whether it holds.

// Commands about how the tensor that a statement assigns is stored, which Temporaries and package declare read. The others are
// the planner's.
const (
	StoreCommand     = "store"     // store(CSR): its format
	TemporaryCommand = "temporary" // temporary or temporary(CSR): it is no result of the program
)

// Command is one command of a schedule: its word and its arguments.
type Command struct {
	Pos  Pos
	Name string
	Args []*Argument
	// Text is where Pos is a place in: the text of a schedule, or "" for that of the program.
	Text string
}

// Argument is one argument of a command. It is a word (the name of an index or of a tensor, a number, a format) with,
// behind a colon, what is said of it; or, in braces, a list of loops.
type Argument struct {
	Pos   Pos
	Word  string
	Value string // behind the colon; may be ""
	Nest  []*Argument
	Inner bool // in braces: Nest
}

// The grammar of commands. Their words are names, so that no program loses a name to them.
type (
	command struct {
		Pos  lexer.Position
		Name string      `parser:"@Name"`
		Args []*argument `parser:"( '(' ( @@ ( ',' @@ )* )? ')' )?"`
	}

	argument struct {
		Pos   lexer.Position
		Inner bool        `parser:"( @'{'"`
		Nest  []*argument `parser:"( @@ ( ',' @@ )* )? '}'"`
		Word  *phrase     `parser:"| @@"`
		Value *phrase     `parser:"( ':' @@ )? )"`
	}

	// phrase is a word or a format: "DC-S", "S-S[1,0]".
	phrase struct {
		Parts []string `parser:"@( Name | Int ) ( @'-' @( Name | Int ) )* ( @'[' @Int ( @',' @Int )* @']' )?"`
	}

	scheduleText struct {
		Sections []*section `parser:"@@ ( Sep @@ )*"`
	}

	section struct {
		Pos  lexer.Position
		Of   *sectionName `parser:"@@?"`
		List []*command   `parser:"( @@ ( ',' @@ )* )?"`
	}

	sectionName struct {
		Name string `parser:"@Name ':'"`
	}
)

// Section is what the text of a schedule says of one statement.
type Section struct {
	Pos      Pos
	Name     string // of the tensor that the statement assigns, or "" for the only statement
	Commands []*Command
}

var scheduleParser = sync.OnceValue(func() *participle.Parser[scheduleText] {
	return participle.MustBuild[scheduleText](participle.Lexer(definition{}), participle.UseLookahead(2))
})

// ParseSchedule reads the text of a schedule: for each statement a line of commands, behind the name of what the statement
// assigns and a colon where the program has several.
func ParseSchedule(text string) ([]Section, error) {
	tokens, lexErr := scan(text)
	if lexErr != nil {
		return nil, lexErr.WithSource(text)
	}
	if len(tokens) == 1 {
		return nil, nil
	}
	peeking, err := lexer.Upgrade(&tokenList{tokens: tokens})
	if err != nil {
		panic(fmt.Sprintf("BUG: the token list failed: %v", err))
	}
	read, err := scheduleParser().ParseFromLexer(peeking)
	if err != nil {
		return nil, scheduleError(tokens, err).WithSource(text)
	}
	var list []Section
	for _, s := range read.Sections {
		one := Section{Pos: posOf(s.Pos), Commands: commandsOf(s.List, text)}
		if s.Of != nil {
			one.Name = s.Of.Name
		}
		list = append(list, one)
	}
	return list, nil
}

// scheduleError says which token of a schedule is out of place.
func scheduleError(tokens []lexer.Token, err error) *Error {
	t := tokens[unexpectedToken(tokens, err)]
	return &Error{Code: ErrSyntax, Pos: posOf(t.Pos), Msg: fmt.Sprintf("unexpected %s in a schedule", describe(t)),
		Hint: "a schedule is a list of commands, such as order(i, j), workspace(j: hash)"}
}

func commandsOf(list []*command, text string) []*Command {
	var out []*Command
	for _, c := range list {
		out = append(out, &Command{Pos: posOf(c.Pos), Name: c.Name, Args: argumentsOf(c.Args), Text: text})
	}
	return out
}

func argumentsOf(list []*argument) []*Argument {
	var out []*Argument
	for _, a := range list {
		x := &Argument{Pos: posOf(a.Pos), Inner: a.Inner, Nest: argumentsOf(a.Nest)}
		if a.Word != nil {
			x.Word = strings.Join(a.Word.Parts, "")
		}
		if a.Value != nil {
			x.Value = strings.Join(a.Value.Parts, "")
		}
		out = append(out, x)
	}
	return out
}

// String prints the command as it is written.
func (c *Command) String() string {
	if len(c.Args) == 0 {
		return c.Name
	}
	return c.Name + "(" + FormatArguments(c.Args) + ")"
}

// FormatArguments prints arguments as they are written.
func FormatArguments(list []*Argument) string {
	parts := make([]string, len(list))
	for i, a := range list {
		switch {
		case a.Inner:
			parts[i] = "{" + FormatArguments(a.Nest) + "}"
		case a.Value != "":
			parts[i] = a.Word + ": " + a.Value
		default:
			parts[i] = a.Word
		}
	}
	return strings.Join(parts, ", ")
}

// FormatCommands prints a list of commands.
func FormatCommands(list []*Command) string {
	parts := make([]string, len(list))
	for i, c := range list {
		parts[i] = c.String()
	}
	return strings.Join(parts, ", ")
}

// Fail is the error of a command that is wrong, or cannot hold.
func (c *Command) Fail(pos Pos, hint, format string, args ...any) *Error {
	return &Error{Code: ErrSchedule, Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint, Source: c.Text}
}

// Number is the argument as a count of at least 1; ok says whether it is one.
func (a *Argument) Number() (n int64, ok bool) {
	text := a.Word
	if a.Value != "" {
		text = a.Value
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n > 0
}

// Attach adds the text of a schedule to the statements that it speaks of.
func (f *File) Attach(text string) error {
	sections, err := ParseSchedule(text)
	if err != nil {
		return err
	}
	used := map[*Assign]bool{}
	for _, s := range sections {
		to := slices.IndexFunc(f.Stmts, func(a *Assign) bool { return !used[a] && a.LHS.Name == s.Name })
		if s.Name == "" && len(f.Stmts) == 1 {
			to = 0
		}
		switch {
		case to >= 0:
		case s.Name == "":
			return (&Error{Code: ErrSchedule, Pos: s.Pos, Msg: fmt.Sprintf("the program has %d statements, and this line of the schedule names none", len(f.Stmts)),
				Hint: fmt.Sprintf("begin it with what the statement assigns: %s: …", f.Stmts[0].LHS.Name)}).WithSource(text)
		default:
			var names []string
			for _, a := range f.Stmts {
				names = append(names, a.LHS.Name)
			}
			return (&Error{Code: ErrSchedule, Pos: s.Pos, Msg: fmt.Sprintf("no statement that assigns %s is left for this line of the schedule", s.Name),
				Hint: suggest.DidYouMean(s.Name, names)}).WithSource(text)
		}
		used[f.Stmts[to]] = true
		f.Stmts[to].Schedule = slices.Concat(f.Stmts[to].Schedule, s.Commands)
	}
	return nil
}

// Scheduled reports whether any statement has a schedule.
func (p *Program) Scheduled() bool {
	return slices.ContainsFunc(p.Stmts, func(s *Stmt) bool { return len(s.Schedule) > 0 })
}

// Temporaries names the tensors that are no results of the program, as schedules say.
func (f *File) Temporaries() []string {
	var names []string
	for _, s := range f.Stmts {
		if slices.ContainsFunc(s.Schedule, func(c *Command) bool { return c.Name == TemporaryCommand }) {
			names = append(names, s.LHS.Name)
		}
	}
	return names
}
