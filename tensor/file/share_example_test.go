package file_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// Two writers have two rows of a matrix each, and make one file. Here they are goroutines; processes exchange their messages by MPI, for example.
func ExampleWriteShare() {
	dir, err := os.MkdirTemp("", "share")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "a.bsp.h5")
	fmt.Println(file.ShareAxis(path, tensor.CSR)) // by rows
	blocks := [2][2][]int{{{0, 1, 2}, {3, 0}}, {{0, 0, 3}, {1, 2, 3}}}
	var both sync.WaitGroup
	turn := make(chan [2][]byte)
	for k, b := range blocks {
		part, err := tensor.NewCSR([]int64{2, 4}, b[0], b[1], make([]float64, len(b[1])))
		if err != nil {
			fmt.Println(err)
			return
		}
		with := file.Sharing{Number: k, Exchange: func(message []byte) ([][]byte, error) {
			if k == 0 {
				all := <-turn // the other's message has come, and goes back with this one
				all[0] = message
				turn <- all
				return all[:], nil
			}
			turn <- [2][]byte{nil, message}
			all := <-turn
			return all[:], nil
		}}
		both.Go(func() {
			if err := file.WriteShare(context.Background(), path, part, []int64{4, 4}, int64(2*k), with); err != nil {
				fmt.Println(err)
			}
		})
	}
	both.Wait()
	a, err := file.Read(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Shape(), a.NNZ())
	// Output:
	// 0 true
	// [4 4] 5
}
