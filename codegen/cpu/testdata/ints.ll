source_filename = "ints"

define internal i64 @ints.body(i32* noalias readonly %a, i32* noalias readonly %b, i8* noalias readonly %u, i32* noalias %out, i8* noalias %outu, i64 %n, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
entry:
	%0 = icmp slt i64 %lo, %hi
	br i1 %0, label %for.i, label %for.i.end

for.i:
	%i = phi i64 [ %lo, %entry ], [ %i.next, %for.i ]
	%1 = getelementptr inbounds i32, i32* %a, i64 %i
	%2 = load i32, i32* %1
	%3 = getelementptr inbounds i32, i32* %b, i64 %i
	%4 = load i32, i32* %3
	%5 = icmp eq i32 %4, 0
	%6 = icmp eq i32 %2, -2147483648
	%7 = icmp eq i32 %4, -1
	%8 = and i1 %6, %7
	%9 = or i1 %5, %8
	%10 = select i1 %9, i32 1, i32 %4
	%11 = sdiv i32 %2, %10
	%12 = select i1 %5, i32 0, i32 %11
	%13 = icmp eq i32 %4, 0
	%14 = icmp eq i32 %2, -2147483648
	%15 = icmp eq i32 %4, -1
	%16 = and i1 %14, %15
	%17 = or i1 %13, %16
	%18 = select i1 %17, i32 1, i32 %4
	%19 = srem i32 %2, %18
	%20 = add i32 %12, %19
	%21 = icmp sle i32 %2, %4
	%22 = select i1 %21, i32 %2, i32 %4
	%23 = icmp sge i32 %2, %4
	%24 = select i1 %23, i32 %2, i32 %4
	%25 = call i32 @llvm.abs.i32(i32 %2, i1 false)
	%26 = mul i32 %24, %25
	%27 = sub i32 %22, %26
	%28 = and i32 %4, 31
	%29 = shl i32 %2, %28
	%30 = and i32 %4, 31
	%31 = ashr i32 %2, %30
	%32 = add i32 %29, %31
	%33 = and i32 %2, %4
	%34 = or i32 %2, %4
	%35 = xor i32 %33, %34
	%36 = sub i32 0, %2
	%37 = add i32 %35, %36
	%38 = xor i32 %4, -1
	%39 = add i32 %37, %38
	%40 = getelementptr inbounds i8, i8* %u, i64 %i
	%41 = load i8, i8* %40
	%42 = icmp eq i8 3, 0
	%43 = select i1 %42, i8 1, i8 3
	%44 = udiv i8 %41, %43
	%45 = select i1 %42, i8 0, i8 %44
	%46 = lshr i8 %41, 1
	%47 = add i8 %45, %46
	%48 = icmp ule i8 %41, 7
	%49 = select i1 %48, i8 %41, i8 7
	%50 = add i8 %47, %49
	%51 = add i8 %50, %41
	%52 = icmp eq i8 10, 0
	%53 = select i1 %52, i8 1, i8 10
	%54 = urem i8 %41, %53
	%55 = add i8 %51, %54
	%56 = getelementptr inbounds i8, i8* %outu, i64 %i
	store i8 %55, i8* %56
	%57 = icmp slt i32 %2, %4
	%58 = add i32 %20, %27
	%59 = add i32 %32, %39
	%60 = select i1 %57, i32 %58, i32 %59
	%61 = getelementptr inbounds i32, i32* %out, i64 %i
	store i32 %60, i32* %61
	%i.next = add nsw i64 %i, 1
	%62 = icmp slt i64 %i.next, %hi
	br i1 %62, label %for.i, label %for.i.end, !llvm.loop !2

for.i.end:
	ret i64 0
}

declare i32 @llvm.abs.i32(i32 %0, i1 %1)

define i64 @ints(i64* noalias readonly %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
entry:
	%0 = getelementptr inbounds i64, i64* %args, i64 0
	%1 = bitcast i64* %0 to i32**
	%a.arg = load i32*, i32** %1
	%2 = getelementptr inbounds i64, i64* %args, i64 1
	%3 = bitcast i64* %2 to i32**
	%b.arg = load i32*, i32** %3
	%4 = getelementptr inbounds i64, i64* %args, i64 2
	%5 = bitcast i64* %4 to i8**
	%u.arg = load i8*, i8** %5
	%6 = getelementptr inbounds i64, i64* %args, i64 3
	%7 = bitcast i64* %6 to i32**
	%out.arg = load i32*, i32** %7
	%8 = getelementptr inbounds i64, i64* %args, i64 4
	%9 = bitcast i64* %8 to i8**
	%outu.arg = load i8*, i8** %9
	%10 = getelementptr inbounds i64, i64* %args, i64 5
	%n.arg = load i64, i64* %10
	%11 = call i64 @ints.body(i32* %a.arg, i32* %b.arg, i8* %u.arg, i32* %out.arg, i8* %outu.arg, i64 %n.arg, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %11
}

!0 = !{!"llvm.loop.mustprogress"}
!1 = !{!"llvm.loop.unroll.runtime.disable"}
!2 = distinct !{!2, !0, !1}
