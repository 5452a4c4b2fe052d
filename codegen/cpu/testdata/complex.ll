source_filename = "complex"

define internal i64 @complexes.body({ double, double }* noalias readonly %a, { float, float }* noalias readonly %b, { double, double }* noalias %out, { float, float }* noalias %outb, i8* noalias %same, i64 %n, i32* %stop, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
entry:
	%total.re = alloca double
	%total.im = alloca double
	store double 0.000000e+00, double* %total.re
	store double 0.000000e+00, double* %total.im
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
	%4 = getelementptr inbounds { double, double }, { double, double }* %a, i64 %i, i32 0
	%5 = load double, double* %4
	%6 = getelementptr inbounds { double, double }, { double, double }* %a, i64 %i, i32 1
	%7 = load double, double* %6
	%8 = getelementptr inbounds { float, float }, { float, float }* %b, i64 %i, i32 0
	%9 = load float, float* %8
	%10 = getelementptr inbounds { float, float }, { float, float }* %b, i64 %i, i32 1
	%11 = load float, float* %10
	%12 = load double, double* %total.re
	%13 = load double, double* %total.im
	%14 = fpext float %9 to double
	%15 = fpext float %11 to double
	%16 = fmul double %5, %14
	%17 = fmul double %7, %15
	%18 = fsub double %16, %17
	%19 = fmul double %5, %15
	%20 = fmul double %7, %14
	%21 = fadd double %19, %20
	%22 = fadd double %12, %18
	%23 = fadd double %13, %21
	%24 = fneg double %5
	%25 = fneg double %7
	%26 = fsub double %22, %24
	%27 = fsub double %23, %25
	store double %26, double* %total.re
	store double %27, double* %total.im
	%28 = load double, double* %total.re
	%29 = load double, double* %total.im
	%30 = call double @llvm.fabs.f64(double %28)
	%31 = call double @llvm.fabs.f64(double %29)
	%32 = fcmp oge double %30, %31
	%33 = select i1 %32, double %28, double %29
	%34 = select i1 %32, double %29, double %28
	%35 = fdiv double %34, %33
	%36 = fmul double %34, %35
	%37 = fadd double %33, %36
	%38 = select i1 %32, double %5, double %7
	%39 = select i1 %32, double %7, double %5
	%40 = fmul double %39, %35
	%41 = fadd double %38, %40
	%42 = fmul double %38, %35
	%43 = select i1 %32, double %7, double %42
	%44 = select i1 %32, double %42, double %5
	%45 = fsub double %43, %44
	%46 = fdiv double %41, %37
	%47 = fdiv double %45, %37
	%48 = getelementptr inbounds { double, double }, { double, double }* %out, i64 %i, i32 0
	store double %46, double* %48
	%49 = getelementptr inbounds { double, double }, { double, double }* %out, i64 %i, i32 1
	store double %47, double* %49
	%50 = fcmp oeq float %9, 1.000000e+00
	%51 = fcmp oeq float %11, -0.000000e+00
	%52 = and i1 %50, %51
	%53 = select i1 %52, float %9, float %11
	%54 = select i1 %52, float %11, float %9
	%55 = getelementptr inbounds { float, float }, { float, float }* %outb, i64 %i, i32 0
	store float %53, float* %55
	%56 = getelementptr inbounds { float, float }, { float, float }* %outb, i64 %i, i32 1
	store float %54, float* %56
	%57 = fpext float %9 to double
	%58 = fpext float %11 to double
	%59 = fcmp une double %57, %5
	%60 = fcmp une double %58, %7
	%61 = or i1 %59, %60
	%62 = zext i1 %61 to i8
	%63 = getelementptr inbounds i8, i8* %same, i64 %i
	store i8 %62, i8* %63
	%i.next = add nsw i64 %i, 1
	%64 = icmp slt i64 %i.next, %i.to
	br i1 %64, label %for.i, label %for.i.strip.end, !llvm.loop !2

for.i.strip.end:
	%65 = icmp eq i64 %i.to, %hi
	br i1 %65, label %for.i.end, label %for.i.strip.next, !prof !3

for.i.strip.next:
	%66 = load volatile i32, i32* %stop, align 4
	%67 = icmp eq i32 %66, 0
	br i1 %67, label %for.i.strip, label %stopped, !prof !3

for.i.end:
	ret i64 0

stopped:
	ret i64 -1
}

declare double @llvm.fabs.f64(double %0)

define i64 @complexes(i64* noalias readonly %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
entry:
	%0 = alloca i32
	store i32 0, i32* %0
	%1 = getelementptr inbounds i64, i64* %args, i64 0
	%2 = bitcast i64* %1 to { double, double }**
	%a.arg = load { double, double }*, { double, double }** %2
	%3 = getelementptr inbounds i64, i64* %args, i64 1
	%4 = bitcast i64* %3 to { float, float }**
	%b.arg = load { float, float }*, { float, float }** %4
	%5 = getelementptr inbounds i64, i64* %args, i64 2
	%6 = bitcast i64* %5 to { double, double }**
	%out.arg = load { double, double }*, { double, double }** %6
	%7 = getelementptr inbounds i64, i64* %args, i64 3
	%8 = bitcast i64* %7 to { float, float }**
	%outb.arg = load { float, float }*, { float, float }** %8
	%9 = getelementptr inbounds i64, i64* %args, i64 4
	%10 = bitcast i64* %9 to i8**
	%same.arg = load i8*, i8** %10
	%11 = getelementptr inbounds i64, i64* %args, i64 5
	%n.arg = load i64, i64* %11
	%12 = getelementptr inbounds i64, i64* %args, i64 6
	%13 = bitcast i64* %12 to i32**
	%stop.arg = load i32*, i32** %13
	%14 = icmp ne i32* %stop.arg, null
	%15 = select i1 %14, i32* %stop.arg, i32* %0
	%16 = call i64 @complexes.body({ double, double }* %a.arg, { float, float }* %b.arg, { double, double }* %out.arg, { float, float }* %outb.arg, i8* %same.arg, i64 %n.arg, i32* %15, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %16
}

!0 = !{!"llvm.loop.mustprogress"}
!1 = !{!"llvm.loop.unroll.runtime.disable"}
!2 = distinct !{!2, !0, !1}
!3 = !{!"branch_weights", i32 1048576, i32 1}
