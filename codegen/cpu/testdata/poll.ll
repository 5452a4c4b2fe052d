source_filename = "poll"

define internal i64 @poll.body(i32* noalias readonly %pos, double* noalias readonly %v, double* noalias %y, i64 %n, i32* %stop, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
entry:
	%m = alloca i64
	%0 = icmp slt i64 %lo, %hi
	br i1 %0, label %for.i, label %for.i.end

for.i:
	%i = phi i64 [ %lo, %entry ], [ %i.next, %for.k.end ]
	%1 = getelementptr inbounds i32, i32* %pos, i64 %i
	%2 = load i32, i32* %1
	%3 = zext i32 %2 to i64
	%4 = add i64 %i, 1
	%5 = getelementptr inbounds i32, i32* %pos, i64 %4
	%6 = load i32, i32* %5
	%7 = zext i32 %6 to i64
	%8 = icmp slt i64 %3, %7
	br i1 %8, label %for.p, label %for.p.end

for.p:
	%p = phi i64 [ %3, %for.i ], [ %p.next, %for.p ]
	%9 = getelementptr inbounds double, double* %y, i64 %i
	%10 = load double, double* %9
	%11 = getelementptr inbounds double, double* %v, i64 %p
	%12 = load double, double* %11
	%13 = fadd double %10, %12
	%14 = getelementptr inbounds double, double* %y, i64 %i
	store double %13, double* %14
	%p.next = add nuw nsw i64 %p, 1
	%15 = icmp slt i64 %p.next, %7
	br i1 %15, label %for.p, label %for.p.end, !llvm.loop !2

for.p.end:
	%16 = icmp slt i64 0, %n
	br i1 %16, label %for.j.strip, label %for.j.end

for.j.strip:
	%j.from = phi i64 [ 0, %for.p.end ], [ %j.to, %for.j.strip.next ]
	%17 = sub i64 %n, %j.from
	%18 = icmp ule i64 %17, 65536
	%19 = add i64 %j.from, 65536
	%j.to = select i1 %18, i64 %n, i64 %19
	br label %for.j

for.j:
	%j = phi i64 [ %j.from, %for.j.strip ], [ %j.next, %for.j ]
	%20 = getelementptr inbounds double, double* %y, i64 %i
	%21 = load double, double* %20
	%22 = sitofp i64 %j to double
	%23 = fadd double %21, %22
	%24 = getelementptr inbounds double, double* %y, i64 %i
	store double %23, double* %24
	%j.next = add nuw nsw i64 %j, 1
	%25 = icmp slt i64 %j.next, %j.to
	br i1 %25, label %for.j, label %for.j.strip.end, !llvm.loop !3

for.j.strip.end:
	%26 = icmp eq i64 %j.to, %n
	br i1 %26, label %for.j.end, label %for.j.strip.next, !prof !4

for.j.strip.next:
	%27 = load volatile i32, i32* %stop, align 4
	%28 = icmp eq i32 %27, 0
	br i1 %28, label %for.j.strip, label %stopped, !prof !4

for.j.end:
	%29 = icmp slt i64 0, 4
	br i1 %29, label %for.k, label %for.k.end

for.k:
	%k = phi i64 [ 0, %for.j.end ], [ %k.next, %for.k ]
	%30 = getelementptr inbounds double, double* %y, i64 %k
	%31 = load double, double* %30
	%32 = fmul double %31, 2.000000e+00
	%33 = getelementptr inbounds double, double* %y, i64 %k
	store double %32, double* %33
	%k.next = add nuw nsw i64 %k, 1
	%34 = icmp slt i64 %k.next, 4
	br i1 %34, label %for.k, label %for.k.end, !llvm.loop !5

for.k.end:
	%35 = load volatile i32, i32* %stop, align 4
	%36 = sext i32 %35 to i64
	%37 = or i64 %hi, %36
	%i.next = add nsw i64 %i, 1
	%38 = icmp slt i64 %i.next, %37
	br i1 %38, label %for.i, label %for.i.end, !llvm.loop !6

for.i.end:
	%39 = load volatile i32, i32* %stop, align 4
	%40 = icmp eq i32 %39, 0
	br i1 %40, label %for.i.done, label %stopped, !prof !4

for.i.done:
	%41 = icmp slt i64 0, %n
	br i1 %41, label %for.q.strip, label %for.q.end

for.q.strip:
	%q.from = phi i64 [ 0, %for.i.done ], [ %q.to, %for.q.strip.next ]
	%42 = sub i64 %n, %q.from
	%43 = icmp ule i64 %42, 65536
	%44 = add i64 %q.from, 65536
	%q.to = select i1 %43, i64 %n, i64 %44
	br label %for.q

for.q:
	%q = phi i64 [ %q.from, %for.q.strip ], [ %q.next, %for.q ]
	%45 = getelementptr inbounds double, double* %y, i64 %q
	store double 0.000000e+00, double* %45
	%q.next = add nuw nsw i64 %q, 1
	%46 = icmp slt i64 %q.next, %q.to
	br i1 %46, label %for.q, label %for.q.strip.end, !llvm.loop !7

for.q.strip.end:
	%47 = icmp eq i64 %q.to, %n
	br i1 %47, label %for.q.end, label %for.q.strip.next, !prof !4

for.q.strip.next:
	%48 = load volatile i32, i32* %stop, align 4
	%49 = icmp eq i32 %48, 0
	br i1 %49, label %for.q.strip, label %stopped, !prof !4

for.q.end:
	store i64 %n, i64* %m
	br label %while.cond

while.cond:
	%50 = load i64, i64* %m
	%51 = icmp sgt i64 %50, 0
	br i1 %51, label %while.body, label %while.end

while.body:
	%52 = load i64, i64* %m
	%53 = sdiv i64 %52, 2
	store i64 %53, i64* %m
	%54 = load volatile i32, i32* %stop, align 4
	%55 = icmp eq i32 %54, 0
	br i1 %55, label %while.cond, label %stopped, !prof !4

while.end:
	ret i64 0

stopped:
	ret i64 -1
}

define i64 @poll(i64* noalias readonly %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
entry:
	%0 = alloca i32
	store i32 0, i32* %0
	%1 = getelementptr inbounds i64, i64* %args, i64 0
	%2 = bitcast i64* %1 to i32**
	%pos.arg = load i32*, i32** %2
	%3 = getelementptr inbounds i64, i64* %args, i64 1
	%4 = bitcast i64* %3 to double**
	%v.arg = load double*, double** %4
	%5 = getelementptr inbounds i64, i64* %args, i64 2
	%6 = bitcast i64* %5 to double**
	%y.arg = load double*, double** %6
	%7 = getelementptr inbounds i64, i64* %args, i64 3
	%n.arg = load i64, i64* %7
	%8 = getelementptr inbounds i64, i64* %args, i64 4
	%9 = bitcast i64* %8 to i32**
	%stop.arg = load i32*, i32** %9
	%10 = icmp ne i32* %stop.arg, null
	%11 = select i1 %10, i32* %stop.arg, i32* %0
	%12 = call i64 @poll.body(i32* %pos.arg, double* %v.arg, double* %y.arg, i64 %n.arg, i32* %11, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %12
}

!0 = !{!"llvm.loop.mustprogress"}
!1 = !{!"llvm.loop.unroll.runtime.disable"}
!2 = distinct !{!2, !0, !1}
!3 = distinct !{!3, !0, !1}
!4 = !{!"branch_weights", i32 1048576, i32 1}
!5 = distinct !{!5, !0, !1}
!6 = distinct !{!6, !0, !1}
!7 = distinct !{!7, !0, !1}
