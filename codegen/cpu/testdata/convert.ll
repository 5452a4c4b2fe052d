source_filename = "convert"

define internal i64 @convert.body(double* noalias readonly %a, i32* noalias readonly %b, i32* noalias readonly %u, i8* noalias readonly %p, { double, double }* noalias readonly %z, float* noalias %fs, i8* noalias %ints, i64* noalias %uints, i8* noalias %flags, { float, float }* noalias %zs, i64 %n, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
entry:
	%0 = icmp slt i64 %lo, %hi
	br i1 %0, label %for.i, label %for.i.end

for.i:
	%i = phi i64 [ %lo, %entry ], [ %i.next, %for.i ]
	%1 = getelementptr inbounds double, double* %a, i64 %i
	%2 = load double, double* %1
	%3 = fptrunc double %2 to float
	%4 = getelementptr inbounds i32, i32* %b, i64 %i
	%5 = load i32, i32* %4
	%6 = sitofp i32 %5 to float
	%7 = fadd float %3, %6
	%8 = getelementptr inbounds i32, i32* %u, i64 %i
	%9 = load i32, i32* %8
	%10 = uitofp i32 %9 to float
	%11 = fadd float %7, %10
	%12 = getelementptr inbounds i8, i8* %p, i64 %i
	%13 = load i8, i8* %12
	%14 = icmp ne i8 %13, 0
	%15 = uitofp i1 %14 to float
	%16 = fadd float %11, %15
	%17 = getelementptr inbounds float, float* %fs, i64 %i
	store float %16, float* %17
	%18 = getelementptr inbounds double, double* %a, i64 %i
	%19 = load double, double* %18
	%20 = call i8 @llvm.fptosi.sat.i8.f64(double %19)
	%21 = getelementptr inbounds i32, i32* %b, i64 %i
	%22 = load i32, i32* %21
	%23 = trunc i32 %22 to i8
	%24 = add i8 %20, %23
	%25 = getelementptr inbounds i8, i8* %p, i64 %i
	%26 = load i8, i8* %25
	%27 = icmp ne i8 %26, 0
	%28 = zext i1 %27 to i8
	%29 = add i8 %24, %28
	%30 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %i, i32 0
	%31 = load double, double* %30
	%32 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %i, i32 1
	%33 = load double, double* %32
	%34 = call i8 @llvm.fptosi.sat.i8.f64(double %31)
	%35 = add i8 %29, %34
	%36 = getelementptr inbounds i8, i8* %ints, i64 %i
	store i8 %35, i8* %36
	%37 = getelementptr inbounds double, double* %a, i64 %i
	%38 = load double, double* %37
	%39 = call i64 @llvm.fptoui.sat.i64.f64(double %38)
	%40 = getelementptr inbounds i32, i32* %b, i64 %i
	%41 = load i32, i32* %40
	%42 = sext i32 %41 to i64
	%43 = add i64 %39, %42
	%44 = getelementptr inbounds i32, i32* %u, i64 %i
	%45 = load i32, i32* %44
	%46 = zext i32 %45 to i64
	%47 = add i64 %43, %46
	%48 = getelementptr inbounds i64, i64* %uints, i64 %i
	store i64 %47, i64* %48
	%49 = getelementptr inbounds double, double* %a, i64 %i
	%50 = load double, double* %49
	%51 = fcmp une double %50, 0.000000e+00
	%52 = getelementptr inbounds i32, i32* %b, i64 %i
	%53 = load i32, i32* %52
	%54 = icmp ne i32 %53, 0
	%55 = or i1 %51, %54
	%56 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %i, i32 0
	%57 = load double, double* %56
	%58 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %i, i32 1
	%59 = load double, double* %58
	%60 = fcmp une double %57, 0.000000e+00
	%61 = fcmp une double %59, 0.000000e+00
	%62 = or i1 %60, %61
	%63 = or i1 %55, %62
	%64 = zext i1 %63 to i8
	%65 = getelementptr inbounds i8, i8* %flags, i64 %i
	store i8 %64, i8* %65
	%66 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %i, i32 0
	%67 = load double, double* %66
	%68 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %i, i32 1
	%69 = load double, double* %68
	%70 = fptrunc double %67 to float
	%71 = fptrunc double %69 to float
	%72 = getelementptr inbounds double, double* %a, i64 %i
	%73 = load double, double* %72
	%74 = fptrunc double %73 to float
	%75 = fadd float %70, %74
	%76 = fadd float %71, 0.000000e+00
	%77 = getelementptr inbounds i8, i8* %p, i64 %i
	%78 = load i8, i8* %77
	%79 = icmp ne i8 %78, 0
	%80 = uitofp i1 %79 to float
	%81 = fadd float %75, %80
	%82 = fadd float %76, 0.000000e+00
	%83 = getelementptr inbounds { float, float }, { float, float }* %zs, i64 %i, i32 0
	store float %81, float* %83
	%84 = getelementptr inbounds { float, float }, { float, float }* %zs, i64 %i, i32 1
	store float %82, float* %84
	%i.next = add nsw i64 %i, 1
	%85 = icmp slt i64 %i.next, %hi
	br i1 %85, label %for.i, label %for.i.end, !llvm.loop !2

for.i.end:
	ret i64 0
}

declare i8 @llvm.fptosi.sat.i8.f64(double %0)

declare i64 @llvm.fptoui.sat.i64.f64(double %0)

define i64 @convert(i64* noalias readonly %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
entry:
	%0 = getelementptr inbounds i64, i64* %args, i64 0
	%1 = bitcast i64* %0 to double**
	%a.arg = load double*, double** %1
	%2 = getelementptr inbounds i64, i64* %args, i64 1
	%3 = bitcast i64* %2 to i32**
	%b.arg = load i32*, i32** %3
	%4 = getelementptr inbounds i64, i64* %args, i64 2
	%5 = bitcast i64* %4 to i32**
	%u.arg = load i32*, i32** %5
	%6 = getelementptr inbounds i64, i64* %args, i64 3
	%7 = bitcast i64* %6 to i8**
	%p.arg = load i8*, i8** %7
	%8 = getelementptr inbounds i64, i64* %args, i64 4
	%9 = bitcast i64* %8 to { double, double }**
	%z.arg = load { double, double }*, { double, double }** %9
	%10 = getelementptr inbounds i64, i64* %args, i64 5
	%11 = bitcast i64* %10 to float**
	%fs.arg = load float*, float** %11
	%12 = getelementptr inbounds i64, i64* %args, i64 6
	%13 = bitcast i64* %12 to i8**
	%ints.arg = load i8*, i8** %13
	%14 = getelementptr inbounds i64, i64* %args, i64 7
	%15 = bitcast i64* %14 to i64**
	%uints.arg = load i64*, i64** %15
	%16 = getelementptr inbounds i64, i64* %args, i64 8
	%17 = bitcast i64* %16 to i8**
	%flags.arg = load i8*, i8** %17
	%18 = getelementptr inbounds i64, i64* %args, i64 9
	%19 = bitcast i64* %18 to { float, float }**
	%zs.arg = load { float, float }*, { float, float }** %19
	%20 = getelementptr inbounds i64, i64* %args, i64 10
	%n.arg = load i64, i64* %20
	%21 = call i64 @convert.body(double* %a.arg, i32* %b.arg, i32* %u.arg, i8* %p.arg, { double, double }* %z.arg, float* %fs.arg, i8* %ints.arg, i64* %uints.arg, i8* %flags.arg, { float, float }* %zs.arg, i64 %n.arg, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %21
}

!0 = !{!"llvm.loop.mustprogress"}
!1 = !{!"llvm.loop.unroll.runtime.disable"}
!2 = distinct !{!2, !0, !1}
