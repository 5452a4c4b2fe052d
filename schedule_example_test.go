package lacuna_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// identity is a sparse matrix of n by n with a diagonal of ones.
func identity(n int64) *tensor.Tensor {
	at, ones := make([]int64, n), make([]float64, n)
	for i := range at {
		at[i], ones[i] = int64(i), 1
	}
	m, err := tensor.FromCoords([]int64{n, n}, tensor.CSR, [][]int64{at, at}, tensor.ArrayOf(ones))
	if err != nil {
		panic(err)
	}
	return m
}

// A schedule says in what order loops run, and what threads share; the plan printed back is complete.
func ExampleSchedule() {
	k, err := lacuna.Compile(context.Background(), "y(i) = A(i,j)*x(j)",
		lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64),
		lacuna.Schedule("order(i, j), parallel(i: 4096)"))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := k.Explain("schedule")
	fmt.Print(text, err)
	// Output:
	// y(i) = A(i,j)*x(j) with order(i, {j}), parallel(i: 4096)
	// <nil>
}

// The programs that compute the same with another choice, the cheapest first by the estimate.
func ExampleKernel_Schedules() {
	k, err := lacuna.Compile(context.Background(), "y(i) = A(i,j)*x(j)",
		lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64))
	if err != nil {
		fmt.Println(err)
		return
	}
	programs, err := k.Schedules(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(programs[0])
	// Output: y(i) = A(i,j)*x(j) with order(i, j)
}

// Tuning measures the choices on operands. What it keeps ([lacuna.Tuning.Save]) the option Tuned finds.
func ExampleKernel_Tune() {
	ctx := context.Background()
	session := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
	args := lacuna.Args{"A": identity(100)}
	k, err := session.Compile(ctx, "y(i) = A(i,j)", lacuna.Operand("A", args["A"]))
	if err != nil {
		fmt.Println(err)
		return
	}
	tuning, err := k.Tune(ctx, args, lacuna.TuneOptions{Budget: 50 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	best := tuning.Best()
	fmt.Println(best.Run > 0, saving(best, tuning.Now) >= 0, strings.HasPrefix(best.Program, "y(i) = "))
	// Output: true true true
}

// saving is the time that a run takes less.
func saving(best, now *lacuna.Trial) time.Duration { return now.Run - best.Run }

// Without a program that tuning has kept for such operands, Tuned changes nothing.
func ExampleTuned() {
	y, err := lacuna.Eval(context.Background(), "s = A(i,j)", lacuna.Args{"A": identity(3)}, lacuna.Tuned())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(y.Values().Scalar(0))
	// Output: 3
}

// The orders that were weighed for a product, here by what is assumed of its operands: the best makes a vector first.
func ExampleKernel_Choices() {
	ctx := context.Background()
	large, err := tensor.ParseStatistics("1e6x1e6, 16 per row")
	if err != nil {
		fmt.Println(err)
		return
	}
	k, err := lacuna.Compile(ctx, "y(i) = A(i,j)*A(j,k)*x(k)", lacuna.Assume("A", large),
		lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64))
	if err != nil {
		fmt.Println(err)
		return
	}
	choices, err := k.Choices(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, step := range choices.Products[0].Alternatives[0].Steps {
		fmt.Println(step.Text)
	}
	for _, s := range choices.Statements {
		fmt.Println(loops(s))
	}
	// Output:
	// t1(j) = sum_{k} A(j,k) * x(k)
	// y(i) = sum_{j} A(i,j) * t1(j)
	// t1 with order(j, {k}), parallel(j)
	// y with order(i, {j}), parallel(i)
}

// loops says how a statement runs.
func loops(s lacuna.StatementChoices) string {
	return s.Result + " with " + strings.Join(s.Schedule, ", ")
}

// A profile has the steps of one run with their times, beside the estimates.
func ExampleKernel_Profile() {
	ctx := context.Background()
	args := lacuna.Args{"A": identity(100), "B": identity(100)}
	k, err := lacuna.Compile(ctx, "C(i,k) = A(i,j)*B(j,k)", lacuna.Operand("A", args["A"]), lacuna.Operand("B", args["B"]))
	if err != nil {
		fmt.Println(err)
		return
	}
	profile, out, err := k.Profile(ctx, args)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, step := range profile.Steps {
		fmt.Println(step.Result, step.Entries, step.Took > 0, step.Estimate != nil, hottest(slowest(step)).Took <= step.Took)
	}
	fmt.Println(out["C"].NNZ(), busiest(profile.Steps[0]).Iterations >= 100)
	// Output:
	// C 100 true true true
	// 100 true
}

// hottest is the loop that most of a stage's time passed in, where the engine can measure loops.
func hottest(stage lacuna.StageProfile) (l lacuna.LoopProfile) {
	for _, loop := range stage.Loops {
		if loop.Took > l.Took {
			l = loop
		}
	}
	return l
}

// slowest is the part of a step that took most of its time: counting entries, say, or computing them.
func slowest(step lacuna.StepProfile) (s lacuna.StageProfile) {
	for _, stage := range step.Stages {
		if stage.Took > s.Took {
			s = stage
		}
	}
	return s
}

// busiest is the loop of a step that had the most iterations.
func busiest(step lacuna.StepProfile) (l lacuna.LoopProfile) {
	for _, stage := range step.Stages {
		for _, loop := range stage.Loops {
			if loop.Iterations > l.Iterations {
				l = loop
			}
		}
	}
	return l
}

// What is assumed of operands that are not there yet decides the order of computing.
func ExampleAssume() {
	large, err := tensor.ParseStatistics("1e6x1e6, 16 per row")
	if err != nil {
		fmt.Println(err)
		return
	}
	k, err := lacuna.Compile(context.Background(), "y(i) = A(i,j)*B(j,k)*x(k)",
		lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("B", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64),
		lacuna.Assume("A", large), lacuna.Assume("B", large))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := k.Explain("logic")
	fmt.Println(strings.Contains(text, "guessed, as nothing is known of their data: statistics of x"), err)
	// Output: true <nil>
}

// Measuring takes some seconds, and stops when its context ends. What was measured up to then is not kept.
func ExampleMeasure() {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	err := lacuna.Measure(ctx, func(what string) { fmt.Fprintln(os.Stderr, "measuring", what) })
	fmt.Println(err != nil)
	// Output: true
}
