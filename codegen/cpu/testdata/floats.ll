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
	%18 = fcmp olt double 1.000000e+00, %5
	%19 = select i1 %18, double 1.000000e+00, double %5
	%20 = bitcast double %19 to i64
	%21 = fcmp olt double %5, 1.000000e+00
	%22 = select i1 %21, double %5, double 1.000000e+00
	%23 = bitcast double %22 to i64
	%24 = or i64 %20, %23
	%25 = bitcast i64 %24 to double
	%26 = fadd double %17, %25
	%27 = fneg double %5
	%28 = fcmp ogt double 1.000000e-01, %27
	%29 = select i1 %28, double 1.000000e-01, double %27
	%30 = bitcast double %29 to i64
	%31 = fcmp ogt double %27, 1.000000e-01
	%32 = select i1 %31, double %27, double 1.000000e-01
	%33 = bitcast double %32 to i64
	%34 = or i64 %30, %33
	%35 = and i64 %30, %33
	%36 = and i64 %34, 9223372036854775807
	%37 = or i64 %35, %36
	%38 = bitcast i64 %37 to double
	%39 = fsub double %26, %38
	%40 = getelementptr inbounds double, double* %out, i64 %i
	store double %39, double* %40
	%41 = bitcast float %7 to i32
	%42 = and i32 %41, 2147483647
	%43 = bitcast i32 %42 to float
	%44 = bitcast float %7 to i32
	%45 = or i32 %44, 1
	%46 = bitcast i32 %45 to float
	%47 = fadd float %43, %46
	%48 = getelementptr inbounds float, float* %outb, i64 %i
	store float %47, float* %48
	%49 = fcmp oeq double %5, 0.000000e+00
	%50 = fcmp une double %5, %5
	%51 = or i1 %49, %50
	%52 = fcmp olt double %5, 0x7FF0000000000000
	%53 = xor i1 %52, true
	%54 = and i1 %51, %53
	%55 = fcmp oge double %5, 3.000000e+00
	%56 = fcmp ole double %5, 4.000000e+00
	%57 = and i1 %55, %56
	%58 = or i1 %54, %57
	%59 = fcmp ogt double %5, 0x7FF8000000000000
	%60 = or i1 %58, %59
	%61 = zext i1 %60 to i8
	%62 = getelementptr inbounds i8, i8* %flags, i64 %i
	store i8 %61, i8* %62
	%i.next = add nsw i64 %i, 1
	%63 = icmp slt i64 %i.next, %i.to
	br i1 %63, label %for.i, label %for.i.strip.end, !llvm.loop !2

for.i.strip.end:
	%64 = icmp eq i64 %i.to, %hi
	br i1 %64, label %for.i.end, label %for.i.strip.next, !prof !3

for.i.strip.next:
	%65 = load volatile i32, i32* %stop, align 4
	%66 = icmp eq i32 %65, 0
	br i1 %66, label %for.i.strip, label %stopped, !prof !3

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
