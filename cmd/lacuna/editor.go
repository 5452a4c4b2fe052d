package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/peterh/liner"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
)

// editor reads lines at a terminal, with history and completion.
type editor struct {
	state   *liner.State
	history string // the file that keeps it; "" for none
	app     *app
}

// newEditor takes over the terminal while a line is read.
func newEditor(r *repl) *editor {
	e := &editor{state: liner.NewLiner(), history: historyFile(), app: r.app}
	e.state.SetCtrlCAborts(true)
	e.state.SetTabCompletionStyle(liner.TabPrints)
	e.state.SetWordCompleter(r.complete)
	if f, err := os.Open(e.history); err == nil {
		e.state.ReadHistory(f) // what is there, as far as it can be read
		f.Close()
	}
	r.app.Printf("lacuna %s, engine %s. .help lists the commands; Ctrl-D ends.\n", version(), r.engine.Name())
	return e
}

// historyFile is where the lines of former sessions are: LACUNA_HISTORY, or off.
func historyFile() string {
	switch path := os.Getenv("LACUNA_HISTORY"); path {
	case "off":
		return ""
	case "":
	default:
		return path
	}
	dir := os.Getenv("XDG_STATE_HOME")
	if home, err := os.UserHomeDir(); dir == "" && err == nil {
		dir = filepath.Join(home, ".local", "state")
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "lacuna", "history")
}

// read implements lineReader.
func (e *editor) read(more bool) (string, error) {
	prompt := "> "
	if more {
		prompt = "… "
	}
	line, err := e.state.Prompt(prompt)
	if err == nil && strings.TrimSpace(line) != "" {
		e.state.AppendHistory(line)
	}
	return line, err
}

// close gives the terminal back, and keeps the history.
func (e *editor) close() {
	e.state.Close()
	if err := e.keep(); err != nil {
		e.app.Notice("the history is not kept: " + err.Error())
	}
}

// keep writes the history, which only its owner reads.
func (e *editor) keep() error {
	if e.history == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(e.history), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return cli.ReplaceFile(e.history, 0o600, func(f *os.File) error {
		_, err := e.state.WriteHistory(f)
		return err
	})
}

// complete proposes what the word before pos may become.
func (r *repl) complete(line string, pos int) (head string, list []string, tail string) {
	runes := []rune(line)
	before, tail := string(runes[:pos]), string(runes[pos:])
	if word, ok := strings.CutPrefix(before, "."); ok {
		return r.completeCommand(word, tail)
	}
	if name, _, ok := strings.Cut(before, "="); ok && operand.IsName(strings.TrimSpace(name)) {
		start := len(name) + 1
		for start < len(before) && before[start] == ' ' {
			start++
		}
		if of, format, ok := strings.Cut(before[start:], ":"); ok {
			if _, ok := r.kept[of]; ok {
				return before[:start+len(of)+1], cli.WithPrefix(operand.FormatNames, format), tail
			}
		}
		if value := before[start:]; !strings.ContainsAny(value, " (*") {
			list = append(operand.CompleteSource(value), r.words(value)...)
			return before[:start], list, tail
		}
	}
	at := strings.LastIndexFunc(before, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }) + 1
	for at < len(before) && before[at]&0xc0 == 0x80 { // the rest of a rune that is no letter
		at++
	}
	if at > 0 && before[at-1] == ':' {
		return before[:at], cli.WithPrefix(operand.FormatNames, before[at:]), tail
	}
	if at == len(before) {
		return before, nil, tail
	}
	return before[:at], r.words(before[at:]), tail
}

// completeCommand completes what stands behind the dot.
func (r *repl) completeCommand(word, tail string) (string, []string, string) {
	name, rest, ok := strings.Cut(word, " ")
	if !ok {
		var names []string
		for _, c := range replCommands {
			names = append(names, c.name+" ")
		}
		return ".", cli.WithPrefix(names, word), tail
	}
	at := strings.LastIndexByte(rest, ' ') + 1
	head, last := "."+name+" "+rest[:at], rest[at:]
	switch {
	case name == "ls" || at > 0 && (name == "save" || name == "plot"):
		return head, operand.CompleteSource(last), tail
	case name == "engine":
		return head, cli.WithPrefix(engines, last), tail
	case name == "time":
		return head, cli.WithPrefix([]string{"on", "off"}, last), tail
	case name == "explain" && at == 0:
		return head, append(cli.WithPrefix(stageWords(), last), r.words(last)...), tail
	}
	return head, r.words(last), tail
}
