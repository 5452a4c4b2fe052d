source_filename = "convert"

define internal i64 @convert.body(double* noalias readonly %a, i32* noalias readonly %b, i32* noalias readonly %u, i8* noalias readonly %p, { double, double }* noalias readonly %z, float* noalias %fs, i8* noalias %ints, i64* noalias %uints, i8* noalias %flags, { float, float }* noalias %zs, i64 %n, i32* %stop, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
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
	%6 = fptrunc double %5 to float
	%7 = getelementptr inbounds i32, i32* %b, i64 %i
	%8 = load i32, i32* %7
	%9 = sitofp i32 %8 to float
	%10 = fadd float %6, %9
	%11 = getelementptr inbounds i32, i32* %u, i64 %i
	%12 = load i32, i32* %11
	%13 = uitofp i32 %12 to float
	%14 = fadd float %10, %13
	%15 = getelementptr inbounds i8, i8* %p, i64 %i
	%16 = load i8, i8* %15
	%17 = icmp ne i8 %16, 0
	%18 = uitofp i1 %17 to float
	%19 = fadd float %14, %18
	%20 = getelementptr inbounds float, float* %fs, i64 %i
	store float %19, float* %20
	%21 = getelementptr inbounds double, double* %a, i64 %i
	%22 = load double, double* %21
	%23 = call i8 @llvm.fptosi.sat.i8.f64(double %22)
	%24 = getelementptr inbounds i32, i32* %b, i64 %i
	%25 = load i32, i32* %24
	%26 = trunc i32 %25 to i8
	%27 = add i8 %23, %26
	%28 = getelementptr inbounds i8, i8* %p, i64 %i
	%29 = load i8, i8* %28
	%30 = icmp ne i8 %29, 0
	%31 = zext i1 %30 to i8
	%32 = add i8 %27, %31
	%33 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %i, i32 0
	%34 = load double, double* %33
	%35 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %i, i32 1
	%36 = load double, double* %35
	%37 = call i8 @llvm.fptosi.sat.i8.f64(double %34)
	%38 = add i8 %32, %37
	%39 = getelementptr inbounds i8, i8* %ints, i64 %i
	store i8 %38, i8* %39
	%40 = getelementptr inbounds double, double* %a, i64 %i
	%41 = load double, double* %40
	%42 = call i64 @llvm.fptoui.sat.i64.f64(double %41)
	%43 = getelementptr inbounds i32, i32* %b, i64 %i
	%44 = load i32, i32* %43
	%45 = sext i32 %44 to i64
	%46 = add i64 %42, %45
	%47 = getelementptr inbounds i32, i32* %u, i64 %i
	%48 = load i32, i32* %47
	%49 = zext i32 %48 to i64
	%50 = add i64 %46, %49
	%51 = getelementptr inbounds i64, i64* %uints, i64 %i
	store i64 %50, i64* %51
	%52 = getelementptr inbounds double, double* %a, i64 %i
	%53 = load double, double* %52
	%54 = fcmp une double %53, 0.000000e+00
	%55 = getelementptr inbounds i32, i32* %b, i64 %i
	%56 = load i32, i32* %55
	%57 = icmp ne i32 %56, 0
	%58 = or i1 %54, %57
	%59 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %i, i32 0
	%60 = load double, double* %59
	%61 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %i, i32 1
	%62 = load double, double* %61
	%63 = fcmp une double %60, 0.000000e+00
	%64 = fcmp une double %62, 0.000000e+00
	%65 = or i1 %63, %64
	%66 = or i1 %58, %65
	%67 = zext i1 %66 to i8
	%68 = getelementptr inbounds i8, i8* %flags, i64 %i
	store i8 %67, i8* %68
	%69 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %i, i32 0
	%70 = load double, double* %69
	%71 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %i, i32 1
	%72 = load double, double* %71
	%73 = fptrunc double %70 to float
	%74 = fptrunc double %72 to float
	%75 = getelementptr inbounds double, double* %a, i64 %i
	%76 = load double, double* %75
	%77 = fptrunc double %76 to float
	%78 = fadd float %73, %77
	%79 = fadd float %74, 0.000000e+00
	%80 = getelementptr inbounds i8, i8* %p, i64 %i
	%81 = load i8, i8* %80
	%82 = icmp ne i8 %81, 0
	%83 = uitofp i1 %82 to float
	%84 = fadd float %78, %83
	%85 = fadd float %79, 0.000000e+00
	%86 = getelementptr inbounds { float, float }, { float, float }* %zs, i64 %i, i32 0
	store float %84, float* %86
	%87 = getelementptr inbounds { float, float }, { float, float }* %zs, i64 %i, i32 1
	store float %85, float* %87
	%i.next = add nsw i64 %i, 1
	%88 = icmp slt i64 %i.next, %i.to
	br i1 %88, label %for.i, label %for.i.strip.end, !llvm.loop !2

for.i.strip.end:
	%89 = icmp eq i64 %i.to, %hi
	br i1 %89, label %for.i.end, label %for.i.strip.next, !prof !3

for.i.strip.next:
	%90 = load volatile i32, i32* %stop, align 4
	%91 = icmp eq i32 %90, 0
	br i1 %91, label %for.i.strip, label %stopped, !prof !3

for.i.end:
	ret i64 0

stopped:
	ret i64 -1
}

declare i8 @llvm.fptosi.sat.i8.f64(double %0)

declare i64 @llvm.fptoui.sat.i64.f64(double %0)

define i64 @convert(i64* noalias readonly %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
entry:
	%0 = alloca i32
	store i32 0, i32* %0
	%1 = getelementptr inbounds i64, i64* %args, i64 0
	%2 = bitcast i64* %1 to double**
	%a.arg = load double*, double** %2
	%3 = getelementptr inbounds i64, i64* %args, i64 1
	%4 = bitcast i64* %3 to i32**
	%b.arg = load i32*, i32** %4
	%5 = getelementptr inbounds i64, i64* %args, i64 2
	%6 = bitcast i64* %5 to i32**
	%u.arg = load i32*, i32** %6
	%7 = getelementptr inbounds i64, i64* %args, i64 3
	%8 = bitcast i64* %7 to i8**
	%p.arg = load i8*, i8** %8
	%9 = getelementptr inbounds i64, i64* %args, i64 4
	%10 = bitcast i64* %9 to { double, double }**
	%z.arg = load { double, double }*, { double, double }** %10
	%11 = getelementptr inbounds i64, i64* %args, i64 5
	%12 = bitcast i64* %11 to float**
	%fs.arg = load float*, float** %12
	%13 = getelementptr inbounds i64, i64* %args, i64 6
	%14 = bitcast i64* %13 to i8**
	%ints.arg = load i8*, i8** %14
	%15 = getelementptr inbounds i64, i64* %args, i64 7
	%16 = bitcast i64* %15 to i64**
	%uints.arg = load i64*, i64** %16
	%17 = getelementptr inbounds i64, i64* %args, i64 8
	%18 = bitcast i64* %17 to i8**
	%flags.arg = load i8*, i8** %18
	%19 = getelementptr inbounds i64, i64* %args, i64 9
	%20 = bitcast i64* %19 to { float, float }**
	%zs.arg = load { float, float }*, { float, float }** %20
	%21 = getelementptr inbounds i64, i64* %args, i64 10
	%n.arg = load i64, i64* %21
	%22 = getelementptr inbounds i64, i64* %args, i64 11
	%23 = bitcast i64* %22 to i32**
	%stop.arg = load i32*, i32** %23
	%24 = icmp ne i32* %stop.arg, null
	%25 = select i1 %24, i32* %stop.arg, i32* %0
	%26 = call i64 @convert.body(double* %a.arg, i32* %b.arg, i32* %u.arg, i8* %p.arg, { double, double }* %z.arg, float* %fs.arg, i8* %ints.arg, i64* %uints.arg, i8* %flags.arg, { float, float }* %zs.arg, i64 %n.arg, i32* %25, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %26
}

!0 = !{!"llvm.loop.mustprogress"}
!1 = !{!"llvm.loop.unroll.runtime.disable"}
!2 = distinct !{!2, !0, !1}
!3 = !{!"branch_weights", i32 1048576, i32 1}
