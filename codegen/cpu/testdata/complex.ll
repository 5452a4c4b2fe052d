source_filename = "complex"

define internal i64 @complexes.body({ double, double }* noalias readonly %a, { float, float }* noalias readonly %b, { double, double }* noalias %out, { float, float }* noalias %outb, i8* noalias %same, i64 %n, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
entry:
	%total.re = alloca double
	%total.im = alloca double
	store double 0.000000e+00, double* %total.re
	store double 0.000000e+00, double* %total.im
	%0 = icmp slt i64 %lo, %hi
	br i1 %0, label %for.i, label %for.i.end

for.i:
	%i = phi i64 [ %lo, %entry ], [ %i.next, %for.i ]
	%1 = getelementptr inbounds { double, double }, { double, double }* %a, i64 %i, i32 0
	%2 = load double, double* %1
	%3 = getelementptr inbounds { double, double }, { double, double }* %a, i64 %i, i32 1
	%4 = load double, double* %3
	%5 = getelementptr inbounds { float, float }, { float, float }* %b, i64 %i, i32 0
	%6 = load float, float* %5
	%7 = getelementptr inbounds { float, float }, { float, float }* %b, i64 %i, i32 1
	%8 = load float, float* %7
	%9 = load double, double* %total.re
	%10 = load double, double* %total.im
	%11 = fpext float %6 to double
	%12 = fpext float %8 to double
	%13 = fmul double %2, %11
	%14 = fmul double %4, %12
	%15 = fsub double %13, %14
	%16 = fmul double %2, %12
	%17 = fmul double %4, %11
	%18 = fadd double %16, %17
	%19 = fadd double %9, %15
	%20 = fadd double %10, %18
	%21 = fneg double %2
	%22 = fneg double %4
	%23 = fsub double %19, %21
	%24 = fsub double %20, %22
	store double %23, double* %total.re
	store double %24, double* %total.im
	%25 = load double, double* %total.re
	%26 = load double, double* %total.im
	%27 = call double @llvm.fabs.f64(double %25)
	%28 = call double @llvm.fabs.f64(double %26)
	%29 = fcmp oge double %27, %28
	%30 = select i1 %29, double %25, double %26
	%31 = select i1 %29, double %26, double %25
	%32 = fdiv double %31, %30
	%33 = fmul double %31, %32
	%34 = fadd double %30, %33
	%35 = select i1 %29, double %2, double %4
	%36 = select i1 %29, double %4, double %2
	%37 = fmul double %36, %32
	%38 = fadd double %35, %37
	%39 = fmul double %35, %32
	%40 = select i1 %29, double %4, double %39
	%41 = select i1 %29, double %39, double %2
	%42 = fsub double %40, %41
	%43 = fdiv double %38, %34
	%44 = fdiv double %42, %34
	%45 = getelementptr inbounds { double, double }, { double, double }* %out, i64 %i, i32 0
	store double %43, double* %45
	%46 = getelementptr inbounds { double, double }, { double, double }* %out, i64 %i, i32 1
	store double %44, double* %46
	%47 = fcmp oeq float %6, 1.000000e+00
	%48 = fcmp oeq float %8, -0.000000e+00
	%49 = and i1 %47, %48
	%50 = select i1 %49, float %6, float %8
	%51 = select i1 %49, float %8, float %6
	%52 = getelementptr inbounds { float, float }, { float, float }* %outb, i64 %i, i32 0
	store float %50, float* %52
	%53 = getelementptr inbounds { float, float }, { float, float }* %outb, i64 %i, i32 1
	store float %51, float* %53
	%54 = fpext float %6 to double
	%55 = fpext float %8 to double
	%56 = fcmp une double %54, %2
	%57 = fcmp une double %55, %4
	%58 = or i1 %56, %57
	%59 = zext i1 %58 to i8
	%60 = getelementptr inbounds i8, i8* %same, i64 %i
	store i8 %59, i8* %60
	%i.next = add nsw i64 %i, 1
	%61 = icmp slt i64 %i.next, %hi
	br i1 %61, label %for.i, label %for.i.end, !llvm.loop !2

for.i.end:
	ret i64 0
}

declare double @llvm.fabs.f64(double %0)

define i64 @complexes(i64* noalias readonly %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
entry:
	%0 = getelementptr inbounds i64, i64* %args, i64 0
	%1 = bitcast i64* %0 to { double, double }**
	%a.arg = load { double, double }*, { double, double }** %1
	%2 = getelementptr inbounds i64, i64* %args, i64 1
	%3 = bitcast i64* %2 to { float, float }**
	%b.arg = load { float, float }*, { float, float }** %3
	%4 = getelementptr inbounds i64, i64* %args, i64 2
	%5 = bitcast i64* %4 to { double, double }**
	%out.arg = load { double, double }*, { double, double }** %5
	%6 = getelementptr inbounds i64, i64* %args, i64 3
	%7 = bitcast i64* %6 to { float, float }**
	%outb.arg = load { float, float }*, { float, float }** %7
	%8 = getelementptr inbounds i64, i64* %args, i64 4
	%9 = bitcast i64* %8 to i8**
	%same.arg = load i8*, i8** %9
	%10 = getelementptr inbounds i64, i64* %args, i64 5
	%n.arg = load i64, i64* %10
	%11 = call i64 @complexes.body({ double, double }* %a.arg, { float, float }* %b.arg, { double, double }* %out.arg, { float, float }* %outb.arg, i8* %same.arg, i64 %n.arg, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %11
}

!0 = !{!"llvm.loop.mustprogress"}
!1 = !{!"llvm.loop.unroll.runtime.disable"}
!2 = distinct !{!2, !0, !1}
