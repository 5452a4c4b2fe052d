package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
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

// record runs the tests without a mistake. Those that fail all the same find nothing.
func (s *suite) record(mutants []*mutant) error {
	file := s.binary + ".record"
	os.Remove(file)
	cmd := s.command(context.Background(), nil, true, 30*time.Minute, "MUTANT_RECORD="+file)
	cmd.Args = append(cmd.Args, "-test.v", "-test.run=.", "-test.failfast=false")
	out, err := cmd.CombinedOutput()
	if s.tests = passed(out); len(s.tests) == 0 && err != nil {
		return fmt.Errorf("%s: %w\n%s", s.pkg, err, out)
	}
	byID := map[string]*mutant{}
	for _, m := range mutants {
		byID[fmt.Sprint(m.id)] = m
	}
	data, _ := os.ReadFile(file) // none if no mistake is near
	for line := range strings.Lines(string(data)) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		i := slices.IndexFunc(s.tests, func(t *test) bool { return t.name == name })
		if m := byID[id]; m != nil && i >= 0 {
			m.reached, s.tests[i].finds[m.id] = true, true
		}
	}
	return nil
}

// passed are the tests that an output says passed.
func passed(out []byte) []*test {
	var list []*test
	for _, m := range regexp.MustCompile(`(?m)^--- PASS: (\S+) \((\d+\.\d+)s\)`).FindAllStringSubmatch(string(out), -1) {
		seconds, _ := strconv.ParseFloat(m[2], 64)
		list = append(list, &test{name: m[1], takes: time.Duration(seconds * float64(time.Second)), finds: map[int]bool{}})
	}
	return list
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
