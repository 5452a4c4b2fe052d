package loop

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// This file checks the examples of README.md.

// Every example of the README is verified text that prints as it stands there.
func TestReadmeExamples(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "```")
	if len(parts)%2 == 0 || len(parts) < 11 {
		t.Fatalf("%d pieces between fences", len(parts))
	}
	for i := 1; i < len(parts); i += 2 {
		example := strings.TrimPrefix(parts[i], "\n")
		kind, _, _ := strings.Cut(example, " ")
		printed := ""
		switch kind {
		case "func":
			printed = roundTrip(t, example, ParseFunc)
		case "scalar":
			printed = roundTrip(t, example, ParseScalar)
		case "program":
			printed = roundTrip(t, example, ParseProgram)
		default:
			t.Errorf("an example of %q", kind)
			continue
		}
		if diff := cmp.Diff(example, printed); diff != "" {
			t.Errorf("prints differently (-README +printed):\n%s", diff)
		}
	}
}

type verifiable interface {
	String() string
	Verify(Resolver) error
}

func roundTrip[T verifiable](t *testing.T, text string, parse func(string) (T, error)) string {
	t.Helper()
	x, err := parse(text)
	if err != nil {
		t.Errorf("%v in\n%s", err, text)
		return text
	}
	if err := x.Verify(nil); err != nil {
		t.Error(err)
	}
	return x.String()
}
