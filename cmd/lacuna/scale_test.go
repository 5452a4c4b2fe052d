package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// This file runs the commands of docs/scale.md.

// TestScalePage runs the commands of docs/scale.md that start ranks of one process, the three examples among them: they give what one rank gives. Values are
// integers, so that sums have the same bits in any order.
func TestScalePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"web.mtx": integers(60, 60, 400), "a.mtx": integers(60, 60, 400), "ratings.mtx": integers(50, 40, 300)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lacuna := func(args ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		if status := runContext(context.Background(), args, &out, &errs); status != 0 {
			t.Fatalf("%q: status %d, %s", args, status, &errs)
		}
	}
	for name, text := range map[string]string{"u.npy": "U(i,k) = i + 2*k", "v.npy": "U(i,k) = 3*i - k", "vector.npy": "U(i) = 2*i - 7", "matrix.npy": "U(i,k) = i*k - 5"} {
		shape := map[string]string{"u.npy": "50,6", "v.npy": "40,6", "vector.npy": "60", "matrix.npy": "60,20"}[name]
		lacuna("eval", text, "U:D[f64]", "--shape", "U="+shape, "-o", name, "--engine", "interp")
	}
	placed := regexp.MustCompile(`[: ](over \([^']*\)|replicated|auto)$`)
	section, examples, ran := "", 0, 0
	for line := range strings.SplitSeq(string(page), "\n") {
		if strings.HasPrefix(line, "#") {
			section = line
		}
		words := shellWords(line)
		if !strings.HasPrefix(line, "lacuna eval") || strings.Contains(line, "cuda") || !strings.Contains(line, "--ranks") && !strings.Contains(line, "--grid") {
			continue
		}
		if ran++; strings.HasPrefix(section, "### Example") {
			examples++
		}
		var several, one []string
		for k := 1; k < len(words); k++ {
			switch word := words[k]; {
			case word == "-o":
				k++
			case word == "--ranks" || word == "--grid":
				several = append(several, word, words[k+1])
				k++
			case word == "--time":
				several = append(several, word)
			default:
				word = strings.Replace(strings.Replace(word, "x=x.npy", "x=vector.npy", 1), "X=x.npy", "X=matrix.npy", 1)
				several = append(several, word)
				if word = placed.ReplaceAllString(word, ""); k < 2 || !regexp.MustCompile(`^\w+$`).MatchString(word) {
					one = append(one, word)
				}
			}
		}
		lacuna(append(several, "--engine", "interp", "-o", "several.bsp.h5")...)
		lacuna(append(one, "--as-written", "--engine", "interp", "-o", "one.bsp.h5")...)
		x, err1 := file.Read("several.bsp.h5")
		y, err2 := file.Read("one.bsp.h5")
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if d := tensor.Diff(x, y); d != "" {
			t.Errorf("%s: %s", line, d)
		}
	}
	if examples != 3 || ran < 5 {
		t.Errorf("%d commands, %d of examples: is this test reading the page right?", ran, examples)
	}
}

// integers is a matrix of integers as a text file.
func integers(rows, columns, entries int) string {
	text := fmt.Sprintf("%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", rows, columns, entries)
	for k := range entries {
		at := k * 7919 % (rows * columns)
		text += fmt.Sprintf("%d %d %d\n", at/columns+1, at%columns+1, k%9-4)
	}
	return text
}

// shellWords splits a command as a shell does that knows single quotes.
func shellWords(line string) (words []string) {
	for k, part := range strings.Split(line, "'") {
		if k%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}
