// Package levels_test holds the kit that every kind of level passes, and a kind that only this test has: adding it
// takes the two files bitmap_example_test.go and bitmap_code_test.go.
package levels_test

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
)

func TestMain(m *testing.M) { testengine.Main(m) }
