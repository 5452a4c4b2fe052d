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
	%5 = fcmp uno double %4, %4
	%6 = insertelement <2 x double> undef, double %4, i64 0
	%7 = bitcast <2 x double> %6 to <2 x i64>
	%8 = mul i64 4, %p
	%9 = getelementptr inbounds double, double* %x, i64 %8
	%10 = load double, double* %9
	%11 = fcmp uno double %10, %10
	%12 = insertelement <2 x double> undef, double %10, i64 0
	%13 = bitcast <2 x double> %12 to <2 x i64>
	%14 = and <2 x i64> %7, %13
	%15 = or i1 %5, %11
	%16 = mul i64 4, %p
	%17 = add i64 %16, 1
	%18 = getelementptr inbounds double, double* %x, i64 %17
	%19 = load double, double* %18
	%20 = fcmp uno double %19, %19
	%21 = insertelement <2 x double> undef, double %19, i64 0
	%22 = bitcast <2 x double> %21 to <2 x i64>
	%23 = and <2 x i64> %14, %22
	%24 = or i1 %15, %20
	%25 = mul i64 4, %p
	%26 = add i64 %25, 2
	%27 = getelementptr inbounds double, double* %x, i64 %26
	%28 = load double, double* %27
	%29 = fcmp uno double %28, %28
	%30 = insertelement <2 x double> undef, double %28, i64 0
	%31 = bitcast <2 x double> %30 to <2 x i64>
	%32 = and <2 x i64> %23, %31
	%33 = or i1 %24, %29
	%34 = mul i64 4, %p
	%35 = add i64 %34, 3
	%36 = getelementptr inbounds double, double* %x, i64 %35
	%37 = load double, double* %36
	%38 = fcmp uno double %37, %37
	%39 = insertelement <2 x double> undef, double %37, i64 0
	%40 = bitcast <2 x double> %39 to <2 x i64>
	%41 = and <2 x i64> %32, %40
	%42 = or i1 %33, %38
	%43 = fcmp ogt double %19, %10
	%44 = select i1 %43, double %19, double %10
	%45 = fcmp ogt double %37, %28
	%46 = select i1 %45, double %37, double %28
	%47 = fcmp ogt double %46, %44
	%48 = select i1 %47, double %46, double %44
	%49 = fcmp ogt double %48, %4
	%50 = select i1 %49, double %48, double %4
	%51 = insertelement <2 x double> undef, double %50, i64 0
	%52 = bitcast <2 x double> %51 to <2 x i64>
	%53 = or <2 x i64> %41, <i64 9223372036854775807, i64 9223372036854775807>
	%54 = and <2 x i64> %52, %53
	%55 = bitcast <2 x i64> %54 to <2 x double>
	%56 = extractelement <2 x double> %55, i64 0
	%57 = select i1 %42, double 0x7FF8000000000001, double %56
	store double %57, double* %acc
	%p.next = add nsw i64 %p, 1
	%58 = icmp slt i64 %p.next, %p.to
	br i1 %58, label %for.p, label %for.p.strip.end, !llvm.loop !2

for.p.strip.end:
	%59 = icmp eq i64 %p.to, %hi
	br i1 %59, label %for.p.end, label %for.p.strip.next, !prof !3

for.p.strip.next:
	%60 = load volatile i32, i32* %stop, align 4
	%61 = icmp eq i32 %60, 0
	br i1 %61, label %for.p.strip, label %stopped, !prof !3

for.p.end:
	%62 = load double, double* %acc
	%63 = getelementptr inbounds double, double* %z, i64 %c
	store double %62, double* %63
	%64 = icmp slt i64 %lo, %hi
	br i1 %64, label %for.p.strip.1, label %for.p.end.1

for.p.strip.1:
	%p.from.1 = phi i64 [ %lo, %for.p.end ], [ %p.to.1, %for.p.strip.next.1 ]
	%65 = sub i64 %hi, %p.from.1
	%66 = icmp ule i64 %65, 65536
	%67 = add i64 %p.from.1, 65536
	%p.to.1 = select i1 %66, i64 %hi, i64 %67
	br label %for.p.1

for.p.1:
	%p.1 = phi i64 [ %p.from.1, %for.p.strip.1 ], [ %p.next.1, %for.p.1 ]
	%68 = getelementptr inbounds i32, i32* %at, i64 %p.1
	%69 = load i32, i32* %68
	%70 = zext i32 %69 to i64
	%71 = getelementptr inbounds double, double* %y, i64 %70
	%72 = load double, double* %71
	%73 = fcmp uno double %72, %72
	%74 = insertelement <2 x double> undef, double %72, i64 0
	%75 = bitcast <2 x double> %74 to <2 x i64>
	%76 = getelementptr inbounds double, double* %x, i64 %p.1
	%77 = load double, double* %76
	%78 = fcmp uno double %77, %77
	%79 = insertelement <2 x double> undef, double %77, i64 0
	%80 = bitcast <2 x double> %79 to <2 x i64>
	%81 = and <2 x i64> %75, %80
	%82 = or i1 %73, %78
	%83 = fcmp ogt double %77, %72
	%84 = select i1 %83, double %77, double %72
	%85 = insertelement <2 x double> undef, double %84, i64 0
	%86 = bitcast <2 x double> %85 to <2 x i64>
	%87 = or <2 x i64> %81, <i64 9223372036854775807, i64 9223372036854775807>
	%88 = and <2 x i64> %86, %87
	%89 = bitcast <2 x i64> %88 to <2 x double>
	%90 = extractelement <2 x double> %89, i64 0
	%91 = select i1 %82, double 0x7FF8000000000001, double %90
	%92 = getelementptr inbounds double, double* %y, i64 %70
	store double %91, double* %92
	%93 = getelementptr inbounds double, double* %z, i64 %70
	%94 = load double, double* %93
	%95 = fcmp uno double %94, %94
	%96 = insertelement <2 x double> undef, double %94, i64 0
	%97 = bitcast <2 x double> %96 to <2 x i64>
	%98 = getelementptr inbounds double, double* %x, i64 %p.1
	%99 = load double, double* %98
	%100 = fcmp uno double %99, %99
	%101 = insertelement <2 x double> undef, double %99, i64 0
	%102 = bitcast <2 x double> %101 to <2 x i64>
	%103 = or <2 x i64> %97, %102
	%104 = or i1 %95, %100
	%105 = fcmp olt double %99, %94
	%106 = select i1 %105, double %99, double %94
	%107 = insertelement <2 x double> undef, double %106, i64 0
	%108 = bitcast <2 x double> %107 to <2 x i64>
	%109 = and <2 x i64> %103, <i64 -9223372036854775808, i64 -9223372036854775808>
	%110 = or <2 x i64> %108, %109
	%111 = bitcast <2 x i64> %110 to <2 x double>
	%112 = extractelement <2 x double> %111, i64 0
	%113 = select i1 %104, double 0x7FF8000000000001, double %112
	%114 = getelementptr inbounds double, double* %z, i64 %70
	store double %113, double* %114
	%p.next.1 = add nsw i64 %p.1, 1
	%115 = icmp slt i64 %p.next.1, %p.to.1
	br i1 %115, label %for.p.1, label %for.p.strip.end.1, !llvm.loop !4

for.p.strip.end.1:
	%116 = icmp eq i64 %p.to.1, %hi
	br i1 %116, label %for.p.end.1, label %for.p.strip.next.1, !prof !3

for.p.strip.next.1:
	%117 = load volatile i32, i32* %stop, align 4
	%118 = icmp eq i32 %117, 0
	br i1 %118, label %for.p.strip.1, label %stopped, !prof !3

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
