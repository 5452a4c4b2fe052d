package gpu_test

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
)

func TestMain(m *testing.M) { testengine.Main(m) }
