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
	%13 = mul i64 4, %p
	%14 = add i64 %13, 1
	%15 = getelementptr inbounds double, double* %x, i64 %14
	%16 = load double, double* %15
	%17 = insertelement <2 x double> undef, double %16, i64 0
	%18 = bitcast <2 x double> %17 to <2 x i64>
	%19 = and <2 x i64> %12, %18
	%20 = mul i64 4, %p
	%21 = add i64 %20, 2
	%22 = getelementptr inbounds double, double* %x, i64 %21
	%23 = load double, double* %22
	%24 = insertelement <2 x double> undef, double %23, i64 0
	%25 = bitcast <2 x double> %24 to <2 x i64>
	%26 = and <2 x i64> %19, %25
	%27 = mul i64 4, %p
	%28 = add i64 %27, 3
	%29 = getelementptr inbounds double, double* %x, i64 %28
	%30 = load double, double* %29
	%31 = insertelement <2 x double> undef, double %30, i64 0
	%32 = bitcast <2 x double> %31 to <2 x i64>
	%33 = and <2 x i64> %26, %32
	%34 = fcmp uno double %9, %9
	%35 = fcmp uno double %16, %16
	%36 = or i1 %34, %35
	%37 = fcmp uno double %23, %23
	%38 = or i1 %36, %37
	%39 = fcmp uno double %30, %30
	%40 = or i1 %38, %39
	%41 = fcmp ogt double %16, %9
	%42 = select i1 %41, double %16, double %9
	%43 = fcmp ogt double %30, %23
	%44 = select i1 %43, double %30, double %23
	%45 = fcmp ogt double %44, %42
	%46 = select i1 %45, double %44, double %42
	%47 = fcmp ogt double %46, %4
	%48 = select i1 %47, double %46, double %4
	%49 = insertelement <2 x double> undef, double %48, i64 0
	%50 = bitcast <2 x double> %49 to <2 x i64>
	%51 = or <2 x i64> %33, <i64 9223372036854775807, i64 9223372036854775807>
	%52 = and <2 x i64> %50, %51
	%53 = bitcast <2 x i64> %52 to <2 x double>
	%54 = extractelement <2 x double> %53, i64 0
	%55 = select i1 %40, double 0x7FF8000000000000, double %54
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
	%78 = fcmp uno double %70, %70
	%79 = fcmp uno double %74, %74
	%80 = or i1 %78, %79
	%81 = fcmp ogt double %74, %70
	%82 = select i1 %81, double %74, double %70
	%83 = insertelement <2 x double> undef, double %82, i64 0
	%84 = bitcast <2 x double> %83 to <2 x i64>
	%85 = or <2 x i64> %77, <i64 9223372036854775807, i64 9223372036854775807>
	%86 = and <2 x i64> %84, %85
	%87 = bitcast <2 x i64> %86 to <2 x double>
	%88 = extractelement <2 x double> %87, i64 0
	%89 = select i1 %80, double 0x7FF8000000000000, double %88
	%90 = getelementptr inbounds double, double* %y, i64 %68
	store double %89, double* %90
	%91 = getelementptr inbounds double, double* %z, i64 %68
	%92 = load double, double* %91
	%93 = insertelement <2 x double> undef, double %92, i64 0
	%94 = bitcast <2 x double> %93 to <2 x i64>
	%95 = getelementptr inbounds double, double* %x, i64 %p.1
	%96 = load double, double* %95
	%97 = insertelement <2 x double> undef, double %96, i64 0
	%98 = bitcast <2 x double> %97 to <2 x i64>
	%99 = or <2 x i64> %94, %98
	%100 = fcmp uno double %92, %92
	%101 = fcmp uno double %96, %96
	%102 = or i1 %100, %101
	%103 = fcmp olt double %96, %92
	%104 = select i1 %103, double %96, double %92
	%105 = insertelement <2 x double> undef, double %104, i64 0
	%106 = bitcast <2 x double> %105 to <2 x i64>
	%107 = and <2 x i64> %99, <i64 -9223372036854775808, i64 -9223372036854775808>
	%108 = or <2 x i64> %106, %107
	%109 = bitcast <2 x i64> %108 to <2 x double>
	%110 = extractelement <2 x double> %109, i64 0
	%111 = select i1 %102, double 0x7FF8000000000000, double %110
	%112 = getelementptr inbounds double, double* %z, i64 %68
	store double %111, double* %112
	%p.next.1 = add nsw i64 %p.1, 1
	%113 = icmp slt i64 %p.next.1, %p.to.1
	br i1 %113, label %for.p.1, label %for.p.strip.end.1, !llvm.loop !4

for.p.strip.end.1:
	%114 = icmp eq i64 %p.to.1, %hi
	br i1 %114, label %for.p.end.1, label %for.p.strip.next.1, !prof !3

for.p.strip.next.1:
	%115 = load volatile i32, i32* %stop, align 4
	%116 = icmp eq i32 %115, 0
	br i1 %116, label %for.p.strip.1, label %stopped, !prof !3

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
