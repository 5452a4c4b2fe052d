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
	br label %while.strip

while.strip:
	%6 = load i64, i64* %p
	%7 = add i64 %6, 65536
	%8 = icmp slt i64 %7, %5
	%9 = select i1 %8, i64 %7, i64 %5
	%10 = load i64, i64* %q
	%11 = add i64 %10, 65536
	%12 = icmp slt i64 %11, %n
	%13 = select i1 %12, i64 %11, i64 %n
	br label %while.cond

while.cond:
	%14 = load i64, i64* %p
	%15 = icmp slt i64 %14, %9
	%16 = load i64, i64* %q
	%17 = icmp slt i64 %16, %13
	%18 = and i1 %15, %17
	br i1 %18, label %while.body, label %while.strip.end

while.body:
	%19 = load i64, i64* %p
	%20 = getelementptr inbounds i64, i64* %x, i64 %19
	%21 = load i64, i64* %20
	%22 = load i64, i64* %q
	%23 = getelementptr inbounds i64, i64* %y, i64 %22
	%24 = load i64, i64* %23
	%25 = load i64, i64* %at
	%26 = icmp sle i64 %21, %24
	%27 = select i1 %26, i64 %21, i64 %24
	%28 = getelementptr inbounds i64, i64* %out, i64 %25
	store i64 %27, i64* %28
	%29 = load i64, i64* %at
	%30 = add i64 %29, 1
	store i64 %30, i64* %at
	%31 = load i64, i64* %p
	%32 = icmp sle i64 %21, %24
	%33 = zext i1 %32 to i64
	%34 = add i64 %31, %33
	store i64 %34, i64* %p
	%35 = load i64, i64* %q
	%36 = icmp sle i64 %24, %21
	%37 = zext i1 %36 to i64
	%38 = add i64 %35, %37
	store i64 %38, i64* %q
	br label %while.cond

while.strip.end:
	%39 = load i64, i64* %p
	%40 = icmp slt i64 %39, %5
	%41 = load i64, i64* %q
	%42 = icmp slt i64 %41, %n
	%43 = and i1 %40, %42
	br i1 %43, label %while.strip.next, label %while.end, !prof !2

while.strip.next:
	%44 = load volatile i32, i32* %stop, align 4
	%45 = icmp eq i32 %44, 0
	br i1 %45, label %while.strip, label %stopped, !prof !3

while.end:
	br label %while.cond.1

while.cond.1:
	%46 = load i64, i64* %p
	%47 = icmp slt i64 %46, %5
	br i1 %47, label %while.body.1, label %while.end.1

while.body.1:
	%48 = load i64, i64* %at
	%49 = load i64, i64* %p
	%50 = getelementptr inbounds i64, i64* %x, i64 %49
	%51 = load i64, i64* %50
	%52 = getelementptr inbounds i64, i64* %out, i64 %48
	store i64 %51, i64* %52
	%53 = load i64, i64* %at
	%54 = add i64 %53, 1
	store i64 %54, i64* %at
	%55 = load i64, i64* %p
	%56 = add i64 %55, 1
	store i64 %56, i64* %p
	%57 = load volatile i32, i32* %stop, align 4
	%58 = icmp eq i32 %57, 0
	br i1 %58, label %while.cond.1, label %stopped, !prof !3

while.end.1:
	%59 = load volatile i32, i32* %stop, align 4
	%60 = sext i32 %59 to i64
	%61 = or i64 %hi, %60
	%i.next = add nsw i64 %i, 1
	%62 = icmp slt i64 %i.next, %61
	br i1 %62, label %for.i, label %for.i.end, !llvm.loop !4

for.i.end:
	%63 = load volatile i32, i32* %stop, align 4
	%64 = icmp eq i32 %63, 0
	br i1 %64, label %for.i.done, label %stopped, !prof !3

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
!2 = !{!"branch_weights", i32 1, i32 1048576}
!3 = !{!"branch_weights", i32 1048576, i32 1}
!4 = distinct !{!4, !0, !1}
