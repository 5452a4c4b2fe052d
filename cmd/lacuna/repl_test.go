//go:build linux

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestTerminal drives a conversation at a terminal: completion, Ctrl-C at the prompt and in a run, history.
func TestTerminal(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(self)
	cmd.Args = []string{"lacuna", "repl", "--engine", "interp"}
	cmd.Env = append(os.Environ(), "TERM=xterm", "LACUNA_CACHE=off", "LACUNA_HISTORY="+dir+"/history")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 100})
	if err != nil {
		t.Skip("no terminal: ", err)
	}
	defer terminal.Close()
	seen := ""
	output := make(chan string)
	go func() {
		defer close(output)
		b := make([]byte, 4096)
		for {
			n, err := terminal.Read(b)
			if err != nil {
				return
			}
			output <- string(b[:n])
		}
	}()
	write := func(text string) { terminal.WriteString(text) }
	await := func(text, again string) { // again is what a user writes again and again until it comes
		t.Helper()
		limit, tick := time.After(60*time.Second), time.Tick(500*time.Millisecond)
		for {
			if _, after, ok := strings.Cut(seen, text); ok {
				seen = after
				return
			}
			select {
			case more, ok := <-output:
				if !ok {
					t.Fatalf("ended before %q: %q", text, seen)
				}
				seen += more
			case <-tick:
				write(again)
			case <-limit:
				t.Fatalf("no %q in %q", text, seen)
			}
		}
	}
	await("> ", "")
	write("alpha = 0.5\r")
	await("alpha: scalar", "")
	write("beta = 2*alp\t\r") // which is completed
	await("beta = 1  (f64)", "")
	write(".engine\r")
	await("interp", "")
	await("> ", "")
	write("half")
	await("half", "") // from here on Ctrl-C is the editor's, and no signal
	write("\x03")     // which leaves the line
	await("> ", "")
	write("s = sum_i z(i)\r")
	await("E201", "") // which ends nothing
	write("z = range(100000)\r")
	await("z: 100000", "")
	write("s = sum_{i,j,k} abs(z(i)-z(j)*z(k))\r") // 10^15 steps
	await("z(k))\r", "")
	await("interrupted", "\x03")
	write("gamma = alpha + 1\r")
	await("gamma = 1.5", "")
	await("> ", "")
	write("\x04")
	done := make(chan error, 1)
	go func() {
		for range output {
		}
		done <- cmd.Wait()
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(60 * time.Second):
		cmd.Process.Kill()
		t.Error("Ctrl-D does not end it")
	}
	history, err := os.ReadFile(dir + "/history")
	if err != nil || !strings.Contains(string(history), "gamma = alpha + 1") {
		t.Errorf("the history is %q, %v", history, err)
	}
}

func TestIncomplete(t *testing.T) {
	for text, want := range map[string]bool{
		"y(i) = A(i,j)*x(j)": false, "y(i) =": true, "y(i) = (A(i,j)": true, "t(i) = A(i,j);": true, `x \`: true,
		"a = b and": true, "a = band": false, ".ls (": false, "": false, "# x (": false, "q = [1,": true,
	} {
		if got := unclosed(text) || dangling(text); got != want {
			t.Errorf("of %q it is %v that it goes on", text, got)
		}
	}
}

func TestComplete(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"web.mtx", "west.npy"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := &repl{kept: map[string]kept{"weights": {}, "A": {}}}
	for line, want := range map[string]string{
		"B = we":          "B = |web.mtx west.npy weights",
		"y(i) = we":       "y(i) = |weights",
		"y(i) = logsu":    "y(i) = |logsumexp_",
		"y(i) = sqr":      "y(i) = |sqrt(",
		".fo":             ".|formats ",
		".save A we":      ".save A |web.mtx west.npy",
		"A=web.mtx:base=": "A=|web.mtx:base=0 web.mtx:base=1",
		"A = web.mtx:D":   "A = |web.mtx:DCSR web.mtx:DCSC web.mtx:D",
		"A:CS":            "A:|CSR CSC CSF",
		"A:":              "A:|CSR CSC DCSR DCSC COO COOC CSF D",
		"B = A:DC":        "B = A:|DCSR DCSC",
		"y(i) = ":         "y(i) = |",
		".engine c":       ".engine |cpu cuda",
	} {
		head, list, tail := r.complete(line, len([]rune(line)))
		if got := head + "|" + strings.Join(list, " ") + tail; got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}
