source_filename = "call"

define internal i64 @calls.body(double* noalias readonly %a, double* noalias %y, { double, double }* noalias readonly %z, { double, double }* noalias %w, i64 %n, i32* %stop, i64 %c, i64 %lo, i64 %hi) noinline nounwind "prefer-vector-width"="512" {
entry:
	%0 = icmp slt i64 %lo, %hi
	br i1 %0, label %for.i.strip, label %for.i.end

for.i.strip:
	%i.from = phi i64 [ %lo, %entry ], [ %i.to, %for.i.strip.next ]
	%1 = sub i64 %hi, %i.from
	%2 = icmp ule i64 %1, 65536
	%3 = add i64 %i.from, 65536
	%i.to = select i1 %2, i64 %hi, i64 %3
	br label %for.i

for.i:
	%i = phi i64 [ %i.from, %for.i.strip ], [ %i.next, %for.i ]
	%4 = getelementptr inbounds double, double* %a, i64 %i
	%5 = load double, double* %4
	%6 = call double @lib.fourth_f64(double %5)
	%7 = getelementptr inbounds double, double* %a, i64 %i
	%8 = load double, double* %7
	%9 = call double @lib.square_f64(double %8)
	%10 = call double @lib.clamp_f64(double %9, double 1.000000e+02)
	%11 = fadd double %6, %10
	%12 = call i64 @lib.root_i64(i64 %i)
	%13 = sitofp i64 %12 to double
	%14 = fadd double %11, %13
	%15 = getelementptr inbounds double, double* %y, i64 %i
	store double %14, double* %15
	%16 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %i, i32 0
	%17 = load double, double* %16
	%18 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %i, i32 1
	%19 = load double, double* %18
	%20 = call { double, double } @lib.turn_c128(double %17, double %19, i64 %i)
	%21 = extractvalue { double, double } %20, 0
	%22 = extractvalue { double, double } %20, 1
	%23 = getelementptr inbounds { double, double }, { double, double }* %w, i64 %i, i32 0
	store double %21, double* %23
	%24 = getelementptr inbounds { double, double }, { double, double }* %w, i64 %i, i32 1
	store double %22, double* %24
	%i.next = add nsw i64 %i, 1
	%25 = icmp slt i64 %i.next, %i.to
	br i1 %25, label %for.i, label %for.i.strip.end, !llvm.loop !3

for.i.strip.end:
	%26 = icmp eq i64 %i.to, %hi
	br i1 %26, label %for.i.end, label %for.i.strip.next, !prof !4

for.i.strip.next:
	%27 = load volatile i32, i32* %stop, align 4
	%28 = icmp eq i32 %27, 0
	br i1 %28, label %for.i.strip, label %stopped, !prof !4

for.i.end:
	ret i64 0

stopped:
	ret i64 -1
}

define internal double @lib.fourth_f64(double %x) inlinehint nounwind {
entry:
	%0 = call double @lib.square_f64(double %x)
	%1 = call double @lib.square_f64(double %0)
	ret double %1
}

define internal double @lib.square_f64(double %x) inlinehint nounwind {
entry:
	%0 = fmul double %x, %x
	ret double %0
}

define internal double @lib.clamp_f64(double %x, double %top) inlinehint nounwind {
entry:
	%0 = fcmp ogt double %x, %top
	br i1 %0, label %if.then, label %if.end

if.then:
	ret double %top

if.end:
	ret double %x
}

define internal i64 @lib.root_i64(i64 %n) inlinehint nounwind {
entry:
	%r = alloca i64
	store i64 0, i64* %r
	br label %while.cond

while.cond:
	%0 = load i64, i64* %r
	%1 = add i64 %0, 1
	%2 = load i64, i64* %r
	%3 = add i64 %2, 1
	%4 = mul i64 %1, %3
	%5 = icmp sle i64 %4, %n
	br i1 %5, label %while.body, label %while.end

while.body:
	%6 = load i64, i64* %r
	%7 = add i64 %6, 1
	store i64 %7, i64* %r
	br label %while.cond

while.end:
	%8 = load i64, i64* %r
	ret i64 %8
}

define internal { double, double } @lib.turn_c128(double %z.re, double %z.im, i64 %steps) inlinehint nounwind {
entry:
	%w.re = alloca double
	%w.im = alloca double
	store double %z.re, double* %w.re
	store double %z.im, double* %w.im
	%0 = icmp slt i64 0, %steps
	br i1 %0, label %for.k, label %for.k.end

for.k:
	%k = phi i64 [ 0, %entry ], [ %k.next, %for.k ]
	%1 = load double, double* %w.re
	%2 = load double, double* %w.im
	%3 = fneg double %2
	%4 = load double, double* %w.re
	%5 = load double, double* %w.im
	store double %3, double* %w.re
	store double %4, double* %w.im
	%k.next = add nuw nsw i64 %k, 1
	%6 = icmp slt i64 %k.next, %steps
	br i1 %6, label %for.k, label %for.k.end, !llvm.loop !2

for.k.end:
	%7 = load double, double* %w.re
	%8 = load double, double* %w.im
	%9 = insertvalue { double, double } undef, double %7, 0
	%10 = insertvalue { double, double } %9, double %8, 1
	ret { double, double } %10
}

define i64 @calls(i64* noalias readonly %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
entry:
	%0 = alloca i32
	store i32 0, i32* %0
	%1 = getelementptr inbounds i64, i64* %args, i64 0
	%2 = bitcast i64* %1 to double**
	%a.arg = load double*, double** %2
	%3 = getelementptr inbounds i64, i64* %args, i64 1
	%4 = bitcast i64* %3 to double**
	%y.arg = load double*, double** %4
	%5 = getelementptr inbounds i64, i64* %args, i64 2
	%6 = bitcast i64* %5 to { double, double }**
	%z.arg = load { double, double }*, { double, double }** %6
	%7 = getelementptr inbounds i64, i64* %args, i64 3
	%8 = bitcast i64* %7 to { double, double }**
	%w.arg = load { double, double }*, { double, double }** %8
	%9 = getelementptr inbounds i64, i64* %args, i64 4
	%n.arg = load i64, i64* %9
	%10 = getelementptr inbounds i64, i64* %args, i64 5
	%11 = bitcast i64* %10 to i32**
	%stop.arg = load i32*, i32** %11
	%12 = icmp ne i32* %stop.arg, null
	%13 = select i1 %12, i32* %stop.arg, i32* %0
	%14 = call i64 @calls.body(double* %a.arg, double* %y.arg, { double, double }* %z.arg, { double, double }* %w.arg, i64 %n.arg, i32* %13, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %14
}

!0 = !{!"llvm.loop.mustprogress"}
!1 = !{!"llvm.loop.unroll.runtime.disable"}
!2 = distinct !{!2, !0, !1}
!3 = distinct !{!3, !0, !1}
!4 = !{!"branch_weights", i32 1048576, i32 1}
