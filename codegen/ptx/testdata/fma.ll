source_filename = "fma"

define void @fma(float* noalias align 16 %x, double* noalias align 16 %y, i64 %n, i32* %status) nounwind {
entry:
	%0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%1 = zext i32 %0 to i64
	%2 = icmp slt i64 %1, %n
	br i1 %2, label %if.then, label %if.end

if.then:
	%3 = getelementptr inbounds float, float* %x, i64 %1
	%4 = load float, float* %3
	%5 = add i64 %1, %n
	%6 = getelementptr inbounds float, float* %x, i64 %5
	%7 = load float, float* %6
	%8 = call float @llvm.maxnum.f32(float %7, float 1.000000e+00)
	%9 = call float @llvm.fma.f32(float %4, float 2.000000e+00, float %8)
	%10 = getelementptr inbounds float, float* %x, i64 %1
	store float %9, float* %10
	%11 = getelementptr inbounds double, double* %y, i64 %1
	%12 = load double, double* %11
	%13 = add i64 %1, %n
	%14 = getelementptr inbounds double, double* %y, i64 %13
	%15 = load double, double* %14
	%16 = getelementptr inbounds double, double* %y, i64 %1
	%17 = load double, double* %16
	%18 = call double @llvm.minnum.f64(double %17, double 1.000000e+00)
	%19 = call double @llvm.fma.f64(double %12, double %15, double %18)
	%20 = getelementptr inbounds double, double* %y, i64 %1
	store double %19, double* %20
	br label %if.end

if.end:
	ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare float @llvm.maxnum.f32(float %0, float %1)

declare float @llvm.fma.f32(float %0, float %1, float %2)

declare double @llvm.minnum.f64(double %0, double %1)

declare double @llvm.fma.f64(double %0, double %1, double %2)

!nvvm.annotations = !{!0, !1}

!0 = !{void (float*, double*, i64, i32*)* @fma, !"kernel", i32 1}
!1 = !{void (float*, double*, i64, i32*)* @fma, !"maxntidx", i32 32}
!2 = !{i32 0, i32 32}
