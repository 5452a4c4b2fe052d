source_filename = "floats"

define internal i64 @floats.body(double* noalias readonly %a, float* noalias readonly %b, double* noalias %out, float* noalias %outb, i8* noalias %flags, i64 %n, i32* %stop, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
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
	%4 = getelementptr inbounds double, double* %a, i64 %i
	%5 = load double, double* %4
	%6 = getelementptr inbounds float, float* %b, i64 %i
	%7 = load float, float* %6
	%8 = call double @llvm.fabs.f64(double %5)
	%9 = call double @llvm.sqrt.f64(double %8)
	%10 = call double @llvm.floor.f64(double %5)
	%11 = fadd double %9, %10
	%12 = call double @llvm.ceil.f64(double %5)
	%13 = call double @llvm.trunc.f64(double %5)
	%14 = fmul double %12, %13
	%15 = call double @llvm.rint.f64(double %5)
	%16 = fdiv double %14, %15
	%17 = fsub double %11, %16
	%18 = fcmp uno double 1.000000e+00, 1.000000e+00
	%19 = fcmp olt double 1.000000e+00, %5
	%20 = select i1 %19, double 1.000000e+00, double %5
	%21 = select i1 %18, double 0x7FF8000000000000, double %20
	%22 = fadd double %17, %21
	%23 = fneg double %5
	%24 = fcmp uno double 1.000000e-01, 1.000000e-01
	%25 = fcmp ogt double 1.000000e-01, %23
	%26 = select i1 %25, double 1.000000e-01, double %23
	%27 = select i1 %24, double 0x7FF8000000000000, double %26
	%28 = fsub double %22, %27
	%29 = getelementptr inbounds double, double* %out, i64 %i
	store double %28, double* %29
	%30 = bitcast float %7 to i32
	%31 = and i32 %30, 2147483647
	%32 = bitcast i32 %31 to float
	%33 = bitcast float %7 to i32
	%34 = or i32 %33, 1
	%35 = bitcast i32 %34 to float
	%36 = fadd float %32, %35
	%37 = getelementptr inbounds float, float* %outb, i64 %i
	store float %36, float* %37
	%38 = fcmp oeq double %5, 0.000000e+00
	%39 = fcmp une double %5, %5
	%40 = or i1 %38, %39
	%41 = fcmp olt double %5, 0x7FF0000000000000
	%42 = xor i1 %41, true
	%43 = and i1 %40, %42
	%44 = fcmp oge double %5, 3.000000e+00
	%45 = fcmp ole double %5, 4.000000e+00
	%46 = and i1 %44, %45
	%47 = or i1 %43, %46
	%48 = fcmp ogt double %5, 0x7FF8000000000000
	%49 = or i1 %47, %48
	%50 = zext i1 %49 to i8
	%51 = getelementptr inbounds i8, i8* %flags, i64 %i
	store i8 %50, i8* %51
	%i.next = add nsw i64 %i, 1
	%52 = icmp slt i64 %i.next, %i.to
	br i1 %52, label %for.i, label %for.i.strip.end, !llvm.loop !2

for.i.strip.end:
	%53 = icmp eq i64 %i.to, %hi
	br i1 %53, label %for.i.end, label %for.i.strip.next, !prof !3

for.i.strip.next:
	%54 = load volatile i32, i32* %stop, align 4
	%55 = icmp eq i32 %54, 0
	br i1 %55, label %for.i.strip, label %stopped, !prof !3

for.i.end:
	ret i64 0

stopped:
	ret i64 -1
}

declare double @llvm.fabs.f64(double %0)

declare double @llvm.sqrt.f64(double %0)

declare double @llvm.floor.f64(double %0)

declare double @llvm.ceil.f64(double %0)

declare double @llvm.trunc.f64(double %0)

declare double @llvm.rint.f64(double %0)

define i64 @floats(i64* noalias readonly %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
entry:
	%0 = alloca i32
	store i32 0, i32* %0
	%1 = getelementptr inbounds i64, i64* %args, i64 0
	%2 = bitcast i64* %1 to double**
	%a.arg = load double*, double** %2
	%3 = getelementptr inbounds i64, i64* %args, i64 1
	%4 = bitcast i64* %3 to float**
	%b.arg = load float*, float** %4
	%5 = getelementptr inbounds i64, i64* %args, i64 2
	%6 = bitcast i64* %5 to double**
	%out.arg = load double*, double** %6
	%7 = getelementptr inbounds i64, i64* %args, i64 3
	%8 = bitcast i64* %7 to float**
	%outb.arg = load float*, float** %8
	%9 = getelementptr inbounds i64, i64* %args, i64 4
	%10 = bitcast i64* %9 to i8**
	%flags.arg = load i8*, i8** %10
	%11 = getelementptr inbounds i64, i64* %args, i64 5
	%n.arg = load i64, i64* %11
	%12 = getelementptr inbounds i64, i64* %args, i64 6
	%13 = bitcast i64* %12 to i32**
	%stop.arg = load i32*, i32** %13
	%14 = icmp ne i32* %stop.arg, null
	%15 = select i1 %14, i32* %stop.arg, i32* %0
	%16 = call i64 @floats.body(double* %a.arg, float* %b.arg, double* %out.arg, float* %outb.arg, i8* %flags.arg, i64 %n.arg, i32* %15, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %16
}

!0 = !{!"llvm.loop.mustprogress"}
!1 = !{!"llvm.loop.unroll.runtime.disable"}
!2 = distinct !{!2, !0, !1}
!3 = !{!"branch_weights", i32 1048576, i32 1}
