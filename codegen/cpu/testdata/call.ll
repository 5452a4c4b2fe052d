source_filename = "call"

define internal i64 @calls.body(double* noalias readonly %a, double* noalias %y, { double, double }* noalias readonly %z, { double, double }* noalias %w, i64 %n, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
entry:
	%0 = icmp slt i64 %lo, %hi
	br i1 %0, label %for.i, label %for.i.end

for.i:
	%i = phi i64 [ %lo, %entry ], [ %i.next, %for.i ]
	%1 = getelementptr inbounds double, double* %a, i64 %i
	%2 = load double, double* %1
	%3 = call double @lib.fourth_f64(double %2)
	%4 = getelementptr inbounds double, double* %a, i64 %i
	%5 = load double, double* %4
	%6 = call double @lib.square_f64(double %5)
	%7 = call double @lib.clamp_f64(double %6, double 1.000000e+02)
	%8 = fadd double %3, %7
	%9 = call i64 @lib.root_i64(i64 %i)
	%10 = sitofp i64 %9 to double
	%11 = fadd double %8, %10
	%12 = getelementptr inbounds double, double* %y, i64 %i
	store double %11, double* %12
	%13 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %i, i32 0
	%14 = load double, double* %13
	%15 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %i, i32 1
	%16 = load double, double* %15
	%17 = call { double, double } @lib.turn_c128(double %14, double %16, i64 %i)
	%18 = extractvalue { double, double } %17, 0
	%19 = extractvalue { double, double } %17, 1
	%20 = getelementptr inbounds { double, double }, { double, double }* %w, i64 %i, i32 0
	store double %18, double* %20
	%21 = getelementptr inbounds { double, double }, { double, double }* %w, i64 %i, i32 1
	store double %19, double* %21
	%i.next = add nsw i64 %i, 1
	%22 = icmp slt i64 %i.next, %hi
	br i1 %22, label %for.i, label %for.i.end, !llvm.loop !3

for.i.end:
	ret i64 0
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
	%0 = getelementptr inbounds i64, i64* %args, i64 0
	%1 = bitcast i64* %0 to double**
	%a.arg = load double*, double** %1
	%2 = getelementptr inbounds i64, i64* %args, i64 1
	%3 = bitcast i64* %2 to double**
	%y.arg = load double*, double** %3
	%4 = getelementptr inbounds i64, i64* %args, i64 2
	%5 = bitcast i64* %4 to { double, double }**
	%z.arg = load { double, double }*, { double, double }** %5
	%6 = getelementptr inbounds i64, i64* %args, i64 3
	%7 = bitcast i64* %6 to { double, double }**
	%w.arg = load { double, double }*, { double, double }** %7
	%8 = getelementptr inbounds i64, i64* %args, i64 4
	%n.arg = load i64, i64* %8
	%9 = call i64 @calls.body(double* %a.arg, double* %y.arg, { double, double }* %z.arg, { double, double }* %w.arg, i64 %n.arg, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %9
}

!0 = !{!"llvm.loop.mustprogress"}
!1 = !{!"llvm.loop.unroll.runtime.disable"}
!2 = distinct !{!2, !0, !1}
!3 = distinct !{!3, !0, !1}
