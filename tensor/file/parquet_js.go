package file

import (
	"errors"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// In a browser there is no Parquet: what reads it, with its seven compressions, is a third of what a page would have to load and compile
// before its first answer.
const noParquet = "Parquet is not read or written in a browser: convert the table elsewhere, to .csv for example"

func readParquet(in *input) (*tensor.Tensor, error) { return nil, in.errorf(0, noParquet) }

func listParquet(in *input) ([]Item, error) { return nil, in.errorf(0, noParquet) }

func writeParquet(_ *output, _ *tensor.Tensor) error { return errors.New(noParquet) }
