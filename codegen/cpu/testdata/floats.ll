source_filename = "floats"

define internal i64 @floats.body(double* noalias readonly %a, float* noalias readonly %b, double* noalias %out, float* noalias %outb, i8* noalias %flags, i64 %n, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
entry:
	%0 = icmp slt i64 %lo, %hi
	br i1 %0, label %for.i, label %for.i.end

for.i:
	%i = phi i64 [ %lo, %entry ], [ %i.next, %for.i ]
	%1 = getelementptr inbounds double, double* %a, i64 %i
	%2 = load double, double* %1
	%3 = getelementptr inbounds float, float* %b, i64 %i
	%4 = load float, float* %3
	%5 = call double @llvm.fabs.f64(double %2)
	%6 = call double @llvm.sqrt.f64(double %5)
	%7 = call double @llvm.floor.f64(double %2)
	%8 = fadd double %6, %7
	%9 = call double @llvm.ceil.f64(double %2)
	%10 = call double @llvm.trunc.f64(double %2)
	%11 = fmul double %9, %10
	%12 = call double @llvm.rint.f64(double %2)
	%13 = fdiv double %11, %12
	%14 = fsub double %8, %13
	%15 = fcmp ole double %2, 1.000000e+00
	%16 = fcmp uno double %2, %2
	%17 = or i1 %15, %16
	%18 = select i1 %17, double %2, double 1.000000e+00
	%19 = fadd double %14, %18
	%20 = fneg double %2
	%21 = fcmp oge double %20, 1.000000e-01
	%22 = fcmp uno double %20, %20
	%23 = or i1 %21, %22
	%24 = select i1 %23, double %20, double 1.000000e-01
	%25 = fsub double %19, %24
	%26 = getelementptr inbounds double, double* %out, i64 %i
	store double %25, double* %26
	%27 = bitcast float %4 to i32
	%28 = and i32 %27, 2147483647
	%29 = bitcast i32 %28 to float
	%30 = bitcast float %4 to i32
	%31 = or i32 %30, 1
	%32 = bitcast i32 %31 to float
	%33 = fadd float %29, %32
	%34 = getelementptr inbounds float, float* %outb, i64 %i
	store float %33, float* %34
	%35 = fcmp oeq double %2, 0.000000e+00
	%36 = fcmp une double %2, %2
	%37 = or i1 %35, %36
	%38 = fcmp olt double %2, 0x7FF0000000000000
	%39 = xor i1 %38, true
	%40 = and i1 %37, %39
	%41 = fcmp oge double %2, 3.000000e+00
	%42 = fcmp ole double %2, 4.000000e+00
	%43 = and i1 %41, %42
	%44 = or i1 %40, %43
	%45 = fcmp ogt double %2, 0x7FF8000000000000
	%46 = or i1 %44, %45
	%47 = zext i1 %46 to i8
	%48 = getelementptr inbounds i8, i8* %flags, i64 %i
	store i8 %47, i8* %48
	%i.next = add nsw i64 %i, 1
	%49 = icmp slt i64 %i.next, %hi
	br i1 %49, label %for.i, label %for.i.end, !llvm.loop !2

for.i.end:
	ret i64 0
}

declare double @llvm.fabs.f64(double %0)

declare double @llvm.sqrt.f64(double %0)

declare double @llvm.floor.f64(double %0)

declare double @llvm.ceil.f64(double %0)

declare double @llvm.trunc.f64(double %0)

declare double @llvm.rint.f64(double %0)

define i64 @floats(i64* noalias readonly %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
entry:
	%0 = getelementptr inbounds i64, i64* %args, i64 0
	%1 = bitcast i64* %0 to double**
	%a.arg = load double*, double** %1
	%2 = getelementptr inbounds i64, i64* %args, i64 1
	%3 = bitcast i64* %2 to float**
	%b.arg = load float*, float** %3
	%4 = getelementptr inbounds i64, i64* %args, i64 2
	%5 = bitcast i64* %4 to double**
	%out.arg = load double*, double** %5
	%6 = getelementptr inbounds i64, i64* %args, i64 3
	%7 = bitcast i64* %6 to float**
	%outb.arg = load float*, float** %7
	%8 = getelementptr inbounds i64, i64* %args, i64 4
	%9 = bitcast i64* %8 to i8**
	%flags.arg = load i8*, i8** %9
	%10 = getelementptr inbounds i64, i64* %args, i64 5
	%n.arg = load i64, i64* %10
	%11 = call i64 @floats.body(double* %a.arg, float* %b.arg, double* %out.arg, float* %outb.arg, i8* %flags.arg, i64 %n.arg, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %11
}

!0 = !{!"llvm.loop.mustprogress"}
!1 = !{!"llvm.loop.unroll.runtime.disable"}
!2 = distinct !{!2, !0, !1}
