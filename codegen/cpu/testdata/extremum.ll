source_filename = "extremum"

define internal i64 @extremum.body(double* noalias readonly %x, i32* noalias readonly %at, double* noalias %y, double* noalias %z, i32* %stop, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
entry:
	%acc = alloca double
	store double 0xFFF0000000000000, double* %acc
	%0 = icmp slt i64 %lo, %hi
	br i1 %0, label %for.p.strip, label %for.p.end

for.p.strip:
	%p.from = phi i64 [ %lo, %entry ], [ %p.to, %for.p.strip.next ]
	%1 = sub i64 %hi, %p.from
	%2 = icmp ule i64 %1, 65536
	%3 = add i64 %p.from, 65536
	%p.to = select i1 %2, i64 %hi, i64 %3
	br label %for.p

for.p:
	%p = phi i64 [ %p.from, %for.p.strip ], [ %p.next, %for.p ]
	%4 = load double, double* %acc
	%5 = insertelement <2 x double> undef, double %4, i64 0
	%6 = bitcast <2 x double> %5 to <2 x i64>
	%7 = mul i64 4, %p
	%8 = getelementptr inbounds double, double* %x, i64 %7
	%9 = load double, double* %8
	%10 = insertelement <2 x double> undef, double %9, i64 0
	%11 = bitcast <2 x double> %10 to <2 x i64>
	%12 = and <2 x i64> %6, %11
	%13 = fcmp uno double %9, %9
	%14 = mul i64 4, %p
	%15 = add i64 %14, 1
	%16 = getelementptr inbounds double, double* %x, i64 %15
	%17 = load double, double* %16
	%18 = insertelement <2 x double> undef, double %17, i64 0
	%19 = bitcast <2 x double> %18 to <2 x i64>
	%20 = and <2 x i64> %12, %19
	%21 = fcmp uno double %17, %17
	%22 = or i1 %13, %21
	%23 = mul i64 4, %p
	%24 = add i64 %23, 2
	%25 = getelementptr inbounds double, double* %x, i64 %24
	%26 = load double, double* %25
	%27 = insertelement <2 x double> undef, double %26, i64 0
	%28 = bitcast <2 x double> %27 to <2 x i64>
	%29 = and <2 x i64> %20, %28
	%30 = fcmp uno double %26, %26
	%31 = or i1 %22, %30
	%32 = mul i64 4, %p
	%33 = add i64 %32, 3
	%34 = getelementptr inbounds double, double* %x, i64 %33
	%35 = load double, double* %34
	%36 = insertelement <2 x double> undef, double %35, i64 0
	%37 = bitcast <2 x double> %36 to <2 x i64>
	%38 = and <2 x i64> %29, %37
	%39 = fcmp uno double %35, %35
	%40 = or i1 %31, %39
	%41 = fcmp ogt double %17, %9
	%42 = select i1 %41, double %17, double %9
	%43 = fcmp ogt double %35, %26
	%44 = select i1 %43, double %35, double %26
	%45 = fcmp ogt double %44, %42
	%46 = select i1 %45, double %44, double %42
	%47 = fcmp ogt double %46, %4
	%48 = select i1 %47, double %46, double %4
	%49 = insertelement <2 x double> undef, double %48, i64 0
	%50 = bitcast <2 x double> %49 to <2 x i64>
	%51 = or <2 x i64> %38, <i64 9223372036854775807, i64 9223372036854775807>
	%52 = and <2 x i64> %50, %51
	%53 = bitcast <2 x i64> %52 to <2 x double>
	%54 = extractelement <2 x double> %53, i64 0
	%55 = select i1 %40, double 0x7FF8000000000001, double %54
	store double %55, double* %acc
	%p.next = add nsw i64 %p, 1
	%56 = icmp slt i64 %p.next, %p.to
	br i1 %56, label %for.p, label %for.p.strip.end, !llvm.loop !2

for.p.strip.end:
	%57 = icmp eq i64 %p.to, %hi
	br i1 %57, label %for.p.end, label %for.p.strip.next, !prof !3

for.p.strip.next:
	%58 = load volatile i32, i32* %stop, align 4
	%59 = icmp eq i32 %58, 0
	br i1 %59, label %for.p.strip, label %stopped, !prof !3

for.p.end:
	%60 = load double, double* %acc
	%61 = getelementptr inbounds double, double* %z, i64 %c
	store double %60, double* %61
	%62 = icmp slt i64 %lo, %hi
	br i1 %62, label %for.p.strip.1, label %for.p.end.1

for.p.strip.1:
	%p.from.1 = phi i64 [ %lo, %for.p.end ], [ %p.to.1, %for.p.strip.next.1 ]
	%63 = sub i64 %hi, %p.from.1
	%64 = icmp ule i64 %63, 65536
	%65 = add i64 %p.from.1, 65536
	%p.to.1 = select i1 %64, i64 %hi, i64 %65
	br label %for.p.1

for.p.1:
	%p.1 = phi i64 [ %p.from.1, %for.p.strip.1 ], [ %p.next.1, %for.p.1 ]
	%66 = getelementptr inbounds i32, i32* %at, i64 %p.1
	%67 = load i32, i32* %66
	%68 = zext i32 %67 to i64
	%69 = getelementptr inbounds double, double* %y, i64 %68
	%70 = load double, double* %69
	%71 = insertelement <2 x double> undef, double %70, i64 0
	%72 = bitcast <2 x double> %71 to <2 x i64>
	%73 = getelementptr inbounds double, double* %x, i64 %p.1
	%74 = load double, double* %73
	%75 = insertelement <2 x double> undef, double %74, i64 0
	%76 = bitcast <2 x double> %75 to <2 x i64>
	%77 = and <2 x i64> %72, %76
	%78 = fcmp uno double %74, %74
	%79 = fcmp ogt double %74, %70
	%80 = select i1 %79, double %74, double %70
	%81 = insertelement <2 x double> undef, double %80, i64 0
	%82 = bitcast <2 x double> %81 to <2 x i64>
	%83 = or <2 x i64> %77, <i64 9223372036854775807, i64 9223372036854775807>
	%84 = and <2 x i64> %82, %83
	%85 = bitcast <2 x i64> %84 to <2 x double>
	%86 = extractelement <2 x double> %85, i64 0
	%87 = select i1 %78, double 0x7FF8000000000001, double %86
	%88 = getelementptr inbounds double, double* %y, i64 %68
	store double %87, double* %88
	%89 = getelementptr inbounds double, double* %z, i64 %68
	%90 = load double, double* %89
	%91 = getelementptr inbounds double, double* %x, i64 %p.1
	%92 = load double, double* %91
	%93 = fcmp olt double %92, %90
	%94 = select i1 %93, double %92, double %90
	%95 = bitcast double %94 to i64
	%96 = fcmp olt double %90, %92
	%97 = select i1 %96, double %90, double %92
	%98 = bitcast double %97 to i64
	%99 = or i64 %95, %98
	%100 = bitcast i64 %99 to double
	%101 = getelementptr inbounds double, double* %z, i64 %68
	store double %100, double* %101
	%p.next.1 = add nsw i64 %p.1, 1
	%102 = icmp slt i64 %p.next.1, %p.to.1
	br i1 %102, label %for.p.1, label %for.p.strip.end.1, !llvm.loop !4

for.p.strip.end.1:
	%103 = icmp eq i64 %p.to.1, %hi
	br i1 %103, label %for.p.end.1, label %for.p.strip.next.1, !prof !3

for.p.strip.next.1:
	%104 = load volatile i32, i32* %stop, align 4
	%105 = icmp eq i32 %104, 0
	br i1 %105, label %for.p.strip.1, label %stopped, !prof !3

for.p.end.1:
	ret i64 0

stopped:
	ret i64 -1
}

define i64 @extremum(i64* noalias readonly %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
entry:
	%0 = alloca i32
	store i32 0, i32* %0
	%1 = getelementptr inbounds i64, i64* %args, i64 0
	%2 = bitcast i64* %1 to double**
	%x.arg = load double*, double** %2
	%3 = getelementptr inbounds i64, i64* %args, i64 1
	%4 = bitcast i64* %3 to i32**
	%at.arg = load i32*, i32** %4
	%5 = getelementptr inbounds i64, i64* %args, i64 2
	%6 = bitcast i64* %5 to double**
	%y.arg = load double*, double** %6
	%7 = getelementptr inbounds i64, i64* %args, i64 3
	%8 = bitcast i64* %7 to double**
	%z.arg = load double*, double** %8
	%9 = getelementptr inbounds i64, i64* %args, i64 4
	%10 = bitcast i64* %9 to i32**
	%stop.arg = load i32*, i32** %10
	%11 = icmp ne i32* %stop.arg, null
	%12 = select i1 %11, i32* %stop.arg, i32* %0
	%13 = call i64 @extremum.body(double* %x.arg, i32* %at.arg, double* %y.arg, double* %z.arg, i32* %12, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %13
}

!0 = !{!"llvm.loop.mustprogress"}
!1 = !{!"llvm.loop.unroll.runtime.disable"}
!2 = distinct !{!2, !0, !1}
!3 = !{!"branch_weights", i32 1048576, i32 1}
!4 = distinct !{!4, !0, !1}
