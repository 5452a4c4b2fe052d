source_filename = "append"

define internal i64 @append.body(i64* noalias readonly %pos, i64* noalias readonly %x, i64* noalias readonly %y, i64* noalias %out, i64 %n, i32* %stop, i64 %chunk, i64 %lo, i64 %hi) noinline nounwind {
entry:
	%at = alloca i64
	%p = alloca i64
	%q = alloca i64
	store i64 0, i64* %at
	%0 = icmp slt i64 %lo, %hi
	br i1 %0, label %for.i, label %for.i.end

for.i:
	%i = phi i64 [ %lo, %entry ], [ %i.next, %while.end.1 ]
	%1 = getelementptr inbounds i64, i64* %pos, i64 %i
	%2 = load i64, i64* %1
	store i64 %2, i64* %p
	%3 = add i64 %i, 1
	%4 = getelementptr inbounds i64, i64* %pos, i64 %3
	%5 = load i64, i64* %4
	store i64 0, i64* %q
	br label %while.cond

while.cond:
	%6 = load i64, i64* %p
	%7 = icmp slt i64 %6, %5
	%8 = load i64, i64* %q
	%9 = icmp slt i64 %8, %n
	%10 = and i1 %7, %9
	br i1 %10, label %while.body, label %while.end

while.body:
	%11 = load i64, i64* %p
	%12 = getelementptr inbounds i64, i64* %x, i64 %11
	%13 = load i64, i64* %12
	%14 = load i64, i64* %q
	%15 = getelementptr inbounds i64, i64* %y, i64 %14
	%16 = load i64, i64* %15
	%17 = load i64, i64* %at
	%18 = icmp sle i64 %13, %16
	%19 = select i1 %18, i64 %13, i64 %16
	%20 = getelementptr inbounds i64, i64* %out, i64 %17
	store i64 %19, i64* %20
	%21 = load i64, i64* %at
	%22 = add i64 %21, 1
	store i64 %22, i64* %at
	%23 = load i64, i64* %p
	%24 = icmp sle i64 %13, %16
	%25 = zext i1 %24 to i64
	%26 = add i64 %23, %25
	store i64 %26, i64* %p
	%27 = load i64, i64* %q
	%28 = icmp sle i64 %16, %13
	%29 = zext i1 %28 to i64
	%30 = add i64 %27, %29
	store i64 %30, i64* %q
	br label %while.cond

while.end:
	br label %while.cond.1

while.cond.1:
	%31 = load i64, i64* %p
	%32 = icmp slt i64 %31, %5
	br i1 %32, label %while.body.1, label %while.end.1

while.body.1:
	%33 = load i64, i64* %at
	%34 = load i64, i64* %p
	%35 = getelementptr inbounds i64, i64* %x, i64 %34
	%36 = load i64, i64* %35
	%37 = getelementptr inbounds i64, i64* %out, i64 %33
	store i64 %36, i64* %37
	%38 = load i64, i64* %at
	%39 = add i64 %38, 1
	store i64 %39, i64* %at
	%40 = load i64, i64* %p
	%41 = add i64 %40, 1
	store i64 %41, i64* %p
	%42 = load volatile i32, i32* %stop, align 4
	%43 = icmp eq i32 %42, 0
	br i1 %43, label %while.cond.1, label %stopped, !prof !2

while.end.1:
	%44 = load volatile i32, i32* %stop, align 4
	%45 = sext i32 %44 to i64
	%46 = or i64 %hi, %45
	%i.next = add nsw i64 %i, 1
	%47 = icmp slt i64 %i.next, %46
	br i1 %47, label %for.i, label %for.i.end, !llvm.loop !3

for.i.end:
	%48 = load volatile i32, i32* %stop, align 4
	%49 = icmp eq i32 %48, 0
	br i1 %49, label %for.i.done, label %stopped, !prof !2

for.i.done:
	ret i64 0

stopped:
	ret i64 -1
}

define i64 @append(i64* noalias readonly %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
entry:
	%0 = alloca i32
	store i32 0, i32* %0
	%1 = getelementptr inbounds i64, i64* %args, i64 0
	%2 = bitcast i64* %1 to i64**
	%pos.arg = load i64*, i64** %2
	%3 = getelementptr inbounds i64, i64* %args, i64 1
	%4 = bitcast i64* %3 to i64**
	%x.arg = load i64*, i64** %4
	%5 = getelementptr inbounds i64, i64* %args, i64 2
	%6 = bitcast i64* %5 to i64**
	%y.arg = load i64*, i64** %6
	%7 = getelementptr inbounds i64, i64* %args, i64 3
	%8 = bitcast i64* %7 to i64**
	%out.arg = load i64*, i64** %8
	%9 = getelementptr inbounds i64, i64* %args, i64 4
	%n.arg = load i64, i64* %9
	%10 = getelementptr inbounds i64, i64* %args, i64 5
	%11 = bitcast i64* %10 to i32**
	%stop.arg = load i32*, i32** %11
	%12 = icmp ne i32* %stop.arg, null
	%13 = select i1 %12, i32* %stop.arg, i32* %0
	%14 = call i64 @append.body(i64* %pos.arg, i64* %x.arg, i64* %y.arg, i64* %out.arg, i64 %n.arg, i32* %13, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %14
}

!0 = !{!"llvm.loop.mustprogress"}
!1 = !{!"llvm.loop.unroll.runtime.disable"}
!2 = !{!"branch_weights", i32 1048576, i32 1}
!3 = distinct !{!3, !0, !1}
