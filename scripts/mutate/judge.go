package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// suite is the tests of one package.
type suite struct {
	pkg, binary, dir string
	tests            []*test
}

type test struct {
	name  string
	takes time.Duration
	finds map[int]bool // the mistakes that would make a difference in it
}

func (s *suite) total() (sum time.Duration) {
	for _, t := range s.tests {
		sum += t.takes
	}
	return sum
}

// command runs tests of a suite.
func (s *suite) command(ctx context.Context, tests []string, short bool, timeout time.Duration, env ...string) *exec.Cmd {
	args := []string{"-test.run=^(" + strings.Join(tests, "|") + ")$", "-test.failfast", fmt.Sprintf("-test.timeout=%s", timeout)}
	if short {
		args = append(args, "-test.short")
	}
	cmd := exec.CommandContext(ctx, s.binary, args...)
	cmd.Dir = s.dir
	cmd.Env = append(append(os.Environ(), "LACUNA_CACHE=off"), env...)
	return cmd
}

// record runs each test without a mistake. Those that fail all the same find nothing.
func (s *suite) record(mutants []*mutant) error {
	cmd := exec.Command(s.binary, "-test.list=.")
	cmd.Dir = s.dir
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", s.pkg, err)
	}
	byID := map[string]*mutant{}
	for _, m := range mutants {
		byID[fmt.Sprint(m.id)] = m
	}
	for _, name := range regexp.MustCompile(`(?m)^(Test|Example|Fuzz)\S*`).FindAllString(string(out), -1) {
		file := filepath.Join(filepath.Dir(s.binary), "record")
		os.Remove(file)
		began := time.Now()
		if s.command(context.Background(), []string{name}, true, 5*time.Minute, "MUTANT_RECORD="+file).Run() != nil {
			continue
		}
		t := &test{name: name, takes: time.Since(began), finds: map[int]bool{}}
		data, _ := os.ReadFile(file) // none if no mistake is near
		for _, id := range strings.Fields(string(data)) {
			if m := byID[id]; m != nil {
				m.reached, t.finds[m.id] = true, true
			}
		}
		s.tests = append(s.tests, t)
	}
	return nil
}

// judge turns a mistake on and runs the tests that may find it: those of its own package first, then those of the
// package whose tests take the least.
func (m *mutant) judge(suites []*suite) {
	type part struct {
		suite *suite
		tests []string
		takes time.Duration
		own   bool // of the package with the mistake
	}
	var parts []part
	for _, s := range suites {
		p := part{suite: s}
		for _, t := range s.tests {
			if t.finds[m.id] {
				p.tests, p.takes = append(p.tests, t.name), p.takes+t.takes
			}
		}
		if len(p.tests) > 0 {
			p.own = module+"/"+s.pkg == m.pkg
			parts = append(parts, p)
		}
	}
	slices.SortFunc(parts, func(a, b part) int {
		if a.own != b.own && a.own {
			return -1
		} else if a.own != b.own {
			return 1
		}
		return cmp.Compare(a.takes, b.takes)
	})
	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	defer cancel()
	find := func(short bool) string {
		for _, p := range parts {
			timeout := 20*time.Second + 10*p.takes
			if !short {
				timeout = *limit
			}
			out, err := p.suite.command(ctx, p.tests, short, timeout, fmt.Sprintf("MUTANT=%d", m.id)).CombinedOutput()
			if ctx.Err() != nil {
				return ""
			}
			if err != nil {
				return p.suite.pkg + " " + failed(out)
			}
		}
		return ""
	}
	if m.short = find(true); m.short == "" && *long {
		m.long = find(false)
	}
}

// failed is the name of the test that an output says failed.
func failed(out []byte) string {
	if name := regexp.MustCompile(`(?m)^--- FAIL: (\S+)`).FindSubmatch(out); name != nil {
		return string(name[1])
	}
	if name := regexp.MustCompile(`(?m)^panic: test timed out`).Find(out); name != nil {
		return "(does not end)"
	}
	return "(the process ends)"
}
