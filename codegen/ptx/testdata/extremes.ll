source_filename = "extremes"

define void @extremes(double* noalias readonly align 16 %x, float* noalias readonly align 16 %y, double* noalias align 16 %z, float* noalias align 16 %w, i32* %status) nounwind {
entry:
	%0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%1 = zext i32 %0 to i64
	%2 = getelementptr inbounds double, double* %z, i64 %1
	%3 = load double, double* %2
	%4 = getelementptr inbounds double, double* %x, i64 %1
	%5 = load double, double* %4
	%6 = call double @llvm.maxnum.f64(double %3, double %5)
	%7 = fcmp uno double %3, %5
	%8 = select i1 %7, double 0x7FF8000000000001, double %6
	%9 = getelementptr inbounds double, double* %z, i64 %1
	store double %8, double* %9
	%10 = getelementptr inbounds float, float* %w, i64 %1
	%11 = load float, float* %10
	%12 = getelementptr inbounds float, float* %y, i64 %1
	%13 = load float, float* %12
	%14 = call float @llvm.minnum.f32(float %11, float %13)
	%15 = fcmp uno float %11, %13
	%16 = select i1 %15, float 0x7FF8000000000000, float %14
	%17 = getelementptr inbounds float, float* %w, i64 %1
	store float %16, float* %17
	ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare double @llvm.maxnum.f64(double %0, double %1)

declare float @llvm.minnum.f32(float %0, float %1)

!nvvm.annotations = !{!0, !1}

!0 = !{void (double*, float*, double*, float*, i32*)* @extremes, !"kernel", i32 1}
!1 = !{void (double*, float*, double*, float*, i32*)* @extremes, !"maxntidx", i32 32}
!2 = !{i32 0, i32 32}
