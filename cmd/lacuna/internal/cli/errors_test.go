package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
)

func TestStatus(t *testing.T) {
	tests := []struct {
		err  error
		want int
	}{
		{Usagef("no"), StatusUsage},
		{fmt.Errorf("wrapped: %w", Usagef("no")), StatusUsage},
		{&runtime.UnavailableError{Engine: "cuda", Err: runtime.ErrNotSupported}, statusUnavailable},
		{&lacuna.InternalError{Panic: "x"}, statusBug},
		{fmt.Errorf("reading: %w", context.Canceled), StatusInterrupted},
		{errors.New("mistake"), StatusMistake},
	}
	for _, test := range tests {
		if got := StatusOf(test.err); got != test.want {
			t.Errorf("StatusOf(%v) = %d, want %d", test.err, got, test.want)
		}
	}
}

func TestAwaitCatchesPanics(t *testing.T) {
	_, err := Await(context.Background(), func() (int, error) { panic("oops") })
	var internal *lacuna.InternalError
	if !errors.As(err, &internal) || internal.Panic != "oops" {
		t.Errorf("got %v", err)
	}
}
