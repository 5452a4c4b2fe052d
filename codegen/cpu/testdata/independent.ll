source_filename = "independent"

define internal i64 @spmm.body(i32* noalias readonly %A1_pos, i32* noalias readonly %A1_crd, double* noalias readonly %A_vals, double* noalias readonly %B, double* noalias %C, i64 %k, i32* %stop, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
entry:
	%0 = icmp slt i64 %lo, %hi
	br i1 %0, label %for.i, label %for.i.end

for.i:
	%i = phi i64 [ %lo, %entry ], [ %i.next, %for.p.done ]
	%1 = getelementptr inbounds i32, i32* %A1_pos, i64 %i
	%2 = load i32, i32* %1, !llvm.access.group !1
	%3 = zext i32 %2 to i64
	%4 = add i64 %i, 1
	%5 = getelementptr inbounds i32, i32* %A1_pos, i64 %4
	%6 = load i32, i32* %5, !llvm.access.group !1
	%7 = zext i32 %6 to i64
	%8 = icmp slt i64 %3, %7
	br i1 %8, label %for.p, label %for.p.end

for.p:
	%p = phi i64 [ %3, %for.i ], [ %p.next, %for.j.end ]
	%9 = getelementptr inbounds double, double* %A_vals, i64 %p
	%10 = load double, double* %9, !llvm.access.group !1
	%11 = getelementptr inbounds i32, i32* %A1_crd, i64 %p
	%12 = load i32, i32* %11, !llvm.access.group !1
	%13 = zext i32 %12 to i64
	%14 = mul i64 %13, %k
	%15 = icmp slt i64 0, %k
	br i1 %15, label %for.j, label %for.j.end

for.j:
	%j = phi i64 [ 0, %for.p ], [ %j.next, %for.j ]
	%16 = mul i64 %i, %k
	%17 = add i64 %16, %j
	%18 = mul i64 %i, %k
	%19 = add i64 %18, %j
	%20 = getelementptr inbounds double, double* %C, i64 %19
	%21 = load double, double* %20, !llvm.access.group !{!1, !3}
	%22 = add i64 %14, %j
	%23 = getelementptr inbounds double, double* %B, i64 %22
	%24 = load double, double* %23, !llvm.access.group !{!1, !3}
	%25 = fmul double %10, %24
	%26 = fadd double %21, %25
	%27 = getelementptr inbounds double, double* %C, i64 %17
	store double %26, double* %27, !llvm.access.group !{!1, !3}
	%j.next = add nuw nsw i64 %j, 1
	%28 = icmp slt i64 %j.next, %k
	br i1 %28, label %for.j, label %for.j.end, !llvm.loop !4

for.j.end:
	%29 = load volatile i32, i32* %stop, align 4
	%30 = sext i32 %29 to i64
	%31 = or i64 %7, %30
	%p.next = add nuw nsw i64 %p, 1
	%32 = icmp slt i64 %p.next, %31
	br i1 %32, label %for.p, label %for.p.end, !llvm.loop !5

for.p.end:
	%33 = load volatile i32, i32* %stop, align 4
	%34 = icmp eq i32 %33, 0
	br i1 %34, label %for.p.done, label %stopped, !prof !6

for.p.done:
	%i.next = add nsw i64 %i, 1
	%35 = icmp slt i64 %i.next, %hi
	br i1 %35, label %for.i, label %for.i.end, !llvm.loop !7

for.i.end:
	ret i64 0

stopped:
	ret i64 -1
}

define i64 @spmm(i64* noalias readonly %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
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
	%B.arg = load double*, double** %8
	%9 = getelementptr inbounds i64, i64* %args, i64 4
	%10 = bitcast i64* %9 to double**
	%C.arg = load double*, double** %10
	%11 = getelementptr inbounds i64, i64* %args, i64 5
	%k.arg = load i64, i64* %11
	%12 = getelementptr inbounds i64, i64* %args, i64 6
	%13 = bitcast i64* %12 to i32**
	%stop.arg = load i32*, i32** %13
	%14 = icmp ne i32* %stop.arg, null
	%15 = select i1 %14, i32* %stop.arg, i32* %0
	%16 = call i64 @spmm.body(i32* %A1_pos.arg, i32* %A1_crd.arg, double* %A_vals.arg, double* %B.arg, double* %C.arg, i64 %k.arg, i32* %15, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %16
}

!0 = !{!"llvm.loop.mustprogress"}
!1 = distinct !{}
!2 = !{!"llvm.loop.unroll.runtime.disable"}
!3 = distinct !{}
!4 = distinct !{!4, !0, !{!"llvm.loop.parallel_accesses", !3}}
!5 = distinct !{!5, !0, !2}
!6 = !{!"branch_weights", i32 1048576, i32 1}
!7 = distinct !{!7, !0, !{!"llvm.loop.parallel_accesses", !1}}
