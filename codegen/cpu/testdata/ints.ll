source_filename = "ints"

define internal i64 @ints.body(i32* noalias readonly %a, i32* noalias readonly %b, i8* noalias readonly %u, i32* noalias %out, i8* noalias %outu, i64 %n, i32* %stop, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
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
	%4 = getelementptr inbounds i32, i32* %a, i64 %i
	%5 = load i32, i32* %4
	%6 = getelementptr inbounds i32, i32* %b, i64 %i
	%7 = load i32, i32* %6
	%8 = icmp eq i32 %7, 0
	%9 = icmp eq i32 %5, -2147483648
	%10 = icmp eq i32 %7, -1
	%11 = and i1 %9, %10
	%12 = or i1 %8, %11
	%13 = select i1 %12, i32 1, i32 %7
	%14 = sdiv i32 %5, %13
	%15 = select i1 %8, i32 0, i32 %14
	%16 = icmp eq i32 %7, 0
	%17 = icmp eq i32 %5, -2147483648
	%18 = icmp eq i32 %7, -1
	%19 = and i1 %17, %18
	%20 = or i1 %16, %19
	%21 = select i1 %20, i32 1, i32 %7
	%22 = srem i32 %5, %21
	%23 = add i32 %15, %22
	%24 = icmp sle i32 %5, %7
	%25 = select i1 %24, i32 %5, i32 %7
	%26 = icmp sge i32 %5, %7
	%27 = select i1 %26, i32 %5, i32 %7
	%28 = call i32 @llvm.abs.i32(i32 %5, i1 false)
	%29 = mul i32 %27, %28
	%30 = sub i32 %25, %29
	%31 = and i32 %7, 31
	%32 = shl i32 %5, %31
	%33 = and i32 %7, 31
	%34 = ashr i32 %5, %33
	%35 = add i32 %32, %34
	%36 = and i32 %5, %7
	%37 = or i32 %5, %7
	%38 = xor i32 %36, %37
	%39 = sub i32 0, %5
	%40 = add i32 %38, %39
	%41 = xor i32 %7, -1
	%42 = add i32 %40, %41
	%43 = getelementptr inbounds i8, i8* %u, i64 %i
	%44 = load i8, i8* %43
	%45 = udiv i8 %44, 3
	%46 = lshr i8 %44, 1
	%47 = add i8 %45, %46
	%48 = icmp ule i8 %44, 7
	%49 = select i1 %48, i8 %44, i8 7
	%50 = add i8 %47, %49
	%51 = add i8 %50, %44
	%52 = urem i8 %44, 10
	%53 = add i8 %51, %52
	%54 = getelementptr inbounds i8, i8* %outu, i64 %i
	store i8 %53, i8* %54
	%55 = icmp slt i32 %5, %7
	%56 = add i32 %23, %30
	%57 = add i32 %35, %42
	%58 = select i1 %55, i32 %56, i32 %57
	%59 = getelementptr inbounds i32, i32* %out, i64 %i
	store i32 %58, i32* %59
	%i.next = add nsw i64 %i, 1
	%60 = icmp slt i64 %i.next, %i.to
	br i1 %60, label %for.i, label %for.i.strip.end, !llvm.loop !2

for.i.strip.end:
	%61 = icmp eq i64 %i.to, %hi
	br i1 %61, label %for.i.end, label %for.i.strip.next, !prof !3

for.i.strip.next:
	%62 = load volatile i32, i32* %stop, align 4
	%63 = icmp eq i32 %62, 0
	br i1 %63, label %for.i.strip, label %stopped, !prof !3

for.i.end:
	ret i64 0

stopped:
	ret i64 -1
}

declare i32 @llvm.abs.i32(i32 %0, i1 %1)

define i64 @ints(i64* noalias readonly %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
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
	%6 = bitcast i64* %5 to i8**
	%u.arg = load i8*, i8** %6
	%7 = getelementptr inbounds i64, i64* %args, i64 3
	%8 = bitcast i64* %7 to i32**
	%out.arg = load i32*, i32** %8
	%9 = getelementptr inbounds i64, i64* %args, i64 4
	%10 = bitcast i64* %9 to i8**
	%outu.arg = load i8*, i8** %10
	%11 = getelementptr inbounds i64, i64* %args, i64 5
	%n.arg = load i64, i64* %11
	%12 = getelementptr inbounds i64, i64* %args, i64 6
	%13 = bitcast i64* %12 to i32**
	%stop.arg = load i32*, i32** %13
	%14 = icmp ne i32* %stop.arg, null
	%15 = select i1 %14, i32* %stop.arg, i32* %0
	%16 = call i64 @ints.body(i32* %a.arg, i32* %b.arg, i8* %u.arg, i32* %out.arg, i8* %outu.arg, i64 %n.arg, i32* %15, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %16
}

!0 = !{!"llvm.loop.mustprogress"}
!1 = !{!"llvm.loop.unroll.runtime.disable"}
!2 = distinct !{!2, !0, !1}
!3 = !{!"branch_weights", i32 1048576, i32 1}
