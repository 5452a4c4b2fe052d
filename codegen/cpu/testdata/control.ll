source_filename = "control"

define internal i64 @intersect.body(i32* noalias readonly %a, i32* noalias readonly %b, i32* noalias %out, i64 %n, i64 %m, i64 %room, i32* %stop, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
entry:
	%p = alloca i64
	%q = alloca i64
	%r = alloca i64
	store i64 0, i64* %p
	store i64 0, i64* %q
	store i64 0, i64* %r
	br label %while.cond

while.cond:
	%0 = load i64, i64* %p
	%1 = icmp slt i64 %0, %n
	%2 = load i64, i64* %q
	%3 = icmp slt i64 %2, %m
	%4 = and i1 %1, %3
	br i1 %4, label %while.body, label %while.end

while.body:
	%5 = load i64, i64* %p
	%6 = getelementptr inbounds i32, i32* %a, i64 %5
	%7 = load i32, i32* %6
	%8 = load i64, i64* %q
	%9 = getelementptr inbounds i32, i32* %b, i64 %8
	%10 = load i32, i32* %9
	%11 = icmp eq i32 %7, %10
	br i1 %11, label %if.then, label %if.else

if.then:
	%12 = load i64, i64* %r
	%13 = icmp sge i64 %12, %room
	br i1 %13, label %if.then.1, label %if.end.1, !prof !0

if.then.1:
	ret i64 1

if.end.1:
	%14 = load i64, i64* %r
	%15 = getelementptr inbounds i32, i32* %out, i64 %14
	store i32 %7, i32* %15
	%16 = load i64, i64* %r
	%17 = add i64 %16, 1
	store i64 %17, i64* %r
	%18 = load i64, i64* %p
	%19 = add i64 %18, 1
	store i64 %19, i64* %p
	%20 = load i64, i64* %q
	%21 = add i64 %20, 1
	store i64 %21, i64* %q
	br label %if.end

if.else:
	%22 = icmp ult i32 %7, %10
	br i1 %22, label %if.then.2, label %if.else.1

if.then.2:
	%23 = load i64, i64* %p
	%24 = add i64 %23, 1
	store i64 %24, i64* %p
	br label %if.end.2

if.else.1:
	%25 = load i64, i64* %q
	%26 = add i64 %25, 1
	store i64 %26, i64* %q
	br label %if.end.2

if.end.2:
	br label %if.end

if.end:
	%27 = load volatile i32, i32* %stop, align 4
	%28 = icmp eq i32 %27, 0
	br i1 %28, label %while.cond, label %stopped, !prof !1

while.end:
	%29 = load i64, i64* %r
	%30 = icmp eq i64 %29, 0
	br i1 %30, label %if.then.3, label %if.else.2

if.then.3:
	ret i64 2

if.else.2:
	ret i64 3

stopped:
	ret i64 -1
}

define i64 @intersect(i64* noalias readonly %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
entry:
	%0 = alloca i32
	store i32 0, i32* %0
	%1 = getelementptr inbounds i64, i64* %args, i64 0
	%2 = bitcast i64* %1 to i32**
	%a.arg = load i32*, i32** %2
	%3 = getelementptr inbounds i64, i64* %args, i64 1
	%4 = bitcast i64* %3 to i32**
	%b.arg = load i32*, i32** %4
	%5 = getelementptr inbounds i64, i64* %args, i64 2
	%6 = bitcast i64* %5 to i32**
	%out.arg = load i32*, i32** %6
	%7 = getelementptr inbounds i64, i64* %args, i64 3
	%n.arg = load i64, i64* %7
	%8 = getelementptr inbounds i64, i64* %args, i64 4
	%m.arg = load i64, i64* %8
	%9 = getelementptr inbounds i64, i64* %args, i64 5
	%room.arg = load i64, i64* %9
	%10 = getelementptr inbounds i64, i64* %args, i64 6
	%11 = bitcast i64* %10 to i32**
	%stop.arg = load i32*, i32** %11
	%12 = icmp ne i32* %stop.arg, null
	%13 = select i1 %12, i32* %stop.arg, i32* %0
	%14 = call i64 @intersect.body(i32* %a.arg, i32* %b.arg, i32* %out.arg, i64 %n.arg, i64 %m.arg, i64 %room.arg, i32* %13, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %14
}

!0 = !{!"branch_weights", i32 1, i32 16}
!1 = !{!"branch_weights", i32 1048576, i32 1}
