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
	// define internal i64 @twice.body(double* noalias %x, i32* %stop, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
	// entry:
	// 	%0 = icmp slt i64 %lo, %hi
	// 	br i1 %0, label %for.i.strip, label %for.i.end
	//
	// for.i.strip:
	// 	%i.from = phi i64 [ %lo, %entry ], [ %i.to, %for.i.strip.next ]
	// 	%1 = sub i64 %hi, %i.from
	// 	%2 = icmp ule i64 %1, 65536
	// 	%3 = add i64 %i.from, 65536
	// 	%i.to = select i1 %2, i64 %hi, i64 %3
	// 	br label %for.i
	//
	// for.i:
	// 	%i = phi i64 [ %i.from, %for.i.strip ], [ %i.next, %for.i ]
	// 	%4 = getelementptr inbounds double, double* %x, i64 %i
	// 	%5 = load double, double* %4, !llvm.access.group !1
	// 	%6 = fmul double 2.000000e+00, %5
	// 	%7 = getelementptr inbounds double, double* %x, i64 %i
	// 	store double %6, double* %7, !llvm.access.group !1
	// 	%i.next = add nsw i64 %i, 1
	// 	%8 = icmp slt i64 %i.next, %i.to
	// 	br i1 %8, label %for.i, label %for.i.strip.end, !llvm.loop !2
	//
	// for.i.strip.end:
	// 	%9 = icmp eq i64 %i.to, %hi
	// 	br i1 %9, label %for.i.end, label %for.i.strip.next, !prof !3
	//
	// for.i.strip.next:
	// 	%10 = load volatile i32, i32* %stop, align 4
	// 	%11 = icmp eq i32 %10, 0
	// 	br i1 %11, label %for.i.strip, label %stopped, !prof !3
}
