source_filename = "rounding"

define void @rounding(double* noalias readonly align 16 %x, double* noalias align 16 %y, float* noalias readonly align 16 %u, float* noalias align 16 %v, i32* %status) nounwind {
entry:
	%0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%1 = zext i32 %0 to i64
	%2 = getelementptr inbounds double, double* %x, i64 %1
	%3 = load double, double* %2
	%4 = add i64 %1, 1
	%5 = getelementptr inbounds double, double* %x, i64 %4
	%6 = load double, double* %5
	%7 = fmul double %3, %6
	%8 = add i64 %1, 2
	%9 = getelementptr inbounds double, double* %x, i64 %8
	%10 = load double, double* %9
	%11 = call double @llvm.sqrt.f64(double %10)
	%12 = add i64 %1, 3
	%13 = getelementptr inbounds double, double* %x, i64 %12
	%14 = load double, double* %13
	%15 = fdiv double %11, %14
	%16 = fadd double %7, %15
	%17 = getelementptr inbounds double, double* %y, i64 %1
	store double %16, double* %17
	%18 = getelementptr inbounds float, float* %u, i64 %1
	%19 = load float, float* %18
	%20 = add i64 %1, 1
	%21 = getelementptr inbounds float, float* %u, i64 %20
	%22 = load float, float* %21
	%23 = fmul float %19, %22
	%24 = add i64 %1, 2
	%25 = getelementptr inbounds float, float* %u, i64 %24
	%26 = load float, float* %25
	%27 = call float @llvm.sqrt.f32(float %26)
	%28 = add i64 %1, 3
	%29 = getelementptr inbounds float, float* %u, i64 %28
	%30 = load float, float* %29
	%31 = fdiv float %27, %30
	%32 = fadd float %23, %31
	%33 = getelementptr inbounds float, float* %v, i64 %1
	store float %32, float* %33
	ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare double @llvm.sqrt.f64(double %0)

declare float @llvm.sqrt.f32(float %0)

!nvvm.annotations = !{!0, !1}

!0 = !{void (double*, double*, float*, float*, i32*)* @rounding, !"kernel", i32 1}
!1 = !{void (double*, double*, float*, float*, i32*)* @rounding, !"maxntidx", i32 32}
!2 = !{i32 0, i32 32}
