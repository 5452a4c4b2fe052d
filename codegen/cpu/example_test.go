package cpu_test

import (
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/codegen/cpu"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

func ExampleEmit() {
	f, err := loop.ParseFunc(`
func twice(x: []f64) chunk c, lo, hi {
  for independent i = lo to hi {
    x[i] = 2.0 * x[i]
  }
}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := cpu.Emit("example", []*loop.Func{f}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	body, _, _ := strings.Cut(text, "for.i.end:")
	fmt.Println(body)
	// Output:
	// source_filename = "example"
	//
	// define internal i64 @twice.body(double* noalias %x, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
	// entry:
	// 	%0 = icmp slt i64 %lo, %hi
	// 	br i1 %0, label %for.i, label %for.i.end
	//
	// for.i:
	// 	%i = phi i64 [ %lo, %entry ], [ %i.next, %for.i ]
	// 	%1 = getelementptr inbounds double, double* %x, i64 %i
	// 	%2 = load double, double* %1, !llvm.access.group !1
	// 	%3 = fmul double 2.000000e+00, %2
	// 	%4 = getelementptr inbounds double, double* %x, i64 %i
	// 	store double %3, double* %4, !llvm.access.group !1
	// 	%i.next = add nsw i64 %i, 1
	// 	%5 = icmp slt i64 %i.next, %hi
	// 	br i1 %5, label %for.i, label %for.i.end, !llvm.loop !2
}
