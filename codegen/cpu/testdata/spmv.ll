source_filename = "spmv"

define internal i64 @spmv.body(i32* noalias readonly %A1_pos, i32* noalias readonly %A1_crd, double* noalias readonly %A_vals, double* noalias readonly %x, double* noalias %y, i64 %n, i32* %stop, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
entry:
	%s = alloca double
	%0 = icmp slt i64 %lo, %hi
	br i1 %0, label %for.i, label %for.i.end

for.i:
	%i = phi i64 [ %lo, %entry ], [ %i.next, %for.p.end ]
	store double 0.000000e+00, double* %s
	%1 = getelementptr inbounds i32, i32* %A1_pos, i64 %i
	%2 = load i32, i32* %1
	%3 = zext i32 %2 to i64
	%4 = add i64 %i, 1
	%5 = getelementptr inbounds i32, i32* %A1_pos, i64 %4
	%6 = load i32, i32* %5
	%7 = zext i32 %6 to i64
	%8 = icmp slt i64 %3, %7
	br i1 %8, label %for.p, label %for.p.end

for.p:
	%p = phi i64 [ %3, %for.i ], [ %p.next, %for.p ]
	%9 = load double, double* %s
	%10 = getelementptr inbounds double, double* %A_vals, i64 %p
	%11 = load double, double* %10
	%12 = getelementptr inbounds i32, i32* %A1_crd, i64 %p
	%13 = load i32, i32* %12
	%14 = zext i32 %13 to i64
	%15 = getelementptr inbounds double, double* %x, i64 %14
	%16 = load double, double* %15
	%17 = fmul double %11, %16
	%18 = fadd double %9, %17
	store double %18, double* %s
	%p.next = add nuw nsw i64 %p, 1
	%19 = icmp slt i64 %p.next, %7
	br i1 %19, label %for.p, label %for.p.end, !llvm.loop !2

for.p.end:
	%20 = load double, double* %s
	%21 = getelementptr inbounds double, double* %y, i64 %i
	store double %20, double* %21
	%22 = load volatile i32, i32* %stop, align 4
	%23 = sext i32 %22 to i64
	%24 = or i64 %hi, %23
	%i.next = add nsw i64 %i, 1
	%25 = icmp slt i64 %i.next, %24
	br i1 %25, label %for.i, label %for.i.end, !llvm.loop !3

for.i.end:
	%26 = load volatile i32, i32* %stop, align 4
	%27 = icmp eq i32 %26, 0
	br i1 %27, label %for.i.done, label %stopped, !prof !4

for.i.done:
	ret i64 0

stopped:
	ret i64 -1
}

define i64 @spmv(i64* noalias readonly %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
entry:
	%0 = alloca i32
	store i32 0, i32* %0
	%1 = getelementptr inbounds i64, i64* %args, i64 0
	%2 = bitcast i64* %1 to i32**
	%A1_pos.arg = load i32*, i32** %2
	%3 = getelementptr inbounds i64, i64* %args, i64 1
	%4 = bitcast i64* %3 to i32**
	%A1_crd.arg = load i32*, i32** %4
	%5 = getelementptr inbounds i64, i64* %args, i64 2
	%6 = bitcast i64* %5 to double**
	%A_vals.arg = load double*, double** %6
	%7 = getelementptr inbounds i64, i64* %args, i64 3
	%8 = bitcast i64* %7 to double**
	%x.arg = load double*, double** %8
	%9 = getelementptr inbounds i64, i64* %args, i64 4
	%10 = bitcast i64* %9 to double**
	%y.arg = load double*, double** %10
	%11 = getelementptr inbounds i64, i64* %args, i64 5
	%n.arg = load i64, i64* %11
	%12 = getelementptr inbounds i64, i64* %args, i64 6
	%13 = bitcast i64* %12 to i32**
	%stop.arg = load i32*, i32** %13
	%14 = icmp ne i32* %stop.arg, null
	%15 = select i1 %14, i32* %stop.arg, i32* %0
	%16 = call i64 @spmv.body(i32* %A1_pos.arg, i32* %A1_crd.arg, double* %A_vals.arg, double* %x.arg, double* %y.arg, i64 %n.arg, i32* %15, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %16
}

!0 = !{!"llvm.loop.mustprogress"}
!1 = !{!"llvm.loop.unroll.runtime.disable"}
!2 = distinct !{!2, !0, !1}
!3 = distinct !{!3, !0, !1}
!4 = !{!"branch_weights", i32 1048576, i32 1}
