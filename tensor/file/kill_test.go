package file

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file kills a process that writes.

// killedWriter is the environment variable that makes TestKilledWhileWriting, in a
// process of its own, write to the file that it names until it is killed.
const killedWriter = "LACUNA_TEST_WRITE_UNTIL_KILLED"

// TestKilledWhileWriting kills a process that writes a file over and over, at random
// moments: the file is always one of those that were written, whole.
func TestKilledWhileWriting(t *testing.T) {
	sizes := []int64{30_000, 50_000} // of the two tensors that take turns
	if path := os.Getenv(killedWriter); path != "" {
		for i := 0; ; i++ {
			writeOnes(t, path, sizes[i%2])
		}
	}
	for _, name := range []string{"a.mtx", "a.mtx.gz", "a.npz", "a.npy"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			writeOnes(t, path, sizes[0])
			for range 8 {
				removeTemporaries(t, path)
				cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWhileWriting$")
				cmd.Env = append(os.Environ(), killedWriter+"="+path)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				awaitTemporary(t, path)
				time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				cmd.Wait() // which says that it was killed
				x, err := Read(path)
				if err != nil {
					t.Fatalf("the file is neither the old nor the new one: %v", err)
				}
				if n := x.Shape()[0]; n != sizes[0] && n != sizes[1] {
					t.Fatalf("the file has %d elements", n)
				}
			}
		})
	}
}

// writeOnes writes a vector.
func writeOnes(t *testing.T, path string, n int64) {
	values := make([]float64, n)
	for i := range values {
		values[i] = 1 / float64(i+1)
	}
	x, err := tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(path, x); err != nil {
		t.Fatal(err)
	}
}

// temporaries are the files beside path that are being written or that a killed
// process has left.
func temporaries(t *testing.T, path string) []string {
	list, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*.tmp"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func removeTemporaries(t *testing.T, path string) {
	for _, name := range temporaries(t, path) {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// awaitTemporary waits until a file is being written beside path.
func awaitTemporary(t *testing.T, path string) {
	for range 4000 {
		if len(temporaries(t, path)) > 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("nothing is written")
}
