source_filename = "shuffle"

define void @shuffle(i8* noalias align 16 %i8s, i8* noalias align 16 %bools, i32* noalias align 16 %i32s, i64* noalias align 16 %i64s, float* noalias align 16 %f32s, double* noalias align 16 %f64s, { float, float }* noalias align 16 %c64s, { double, double }* noalias align 16 %c128s, i64 %k, i32* %status) nounwind {
entry:
	%0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%1 = zext i32 %0 to i64
	%2 = getelementptr inbounds i8, i8* %i8s, i64 %1
	%3 = load i8, i8* %2
	%4 = trunc i64 %k to i32
	%5 = zext i8 %3 to i32
	%6 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %5, i32 %4, i32 31)
	%7 = trunc i32 %6 to i8
	%8 = getelementptr inbounds i8, i8* %i8s, i64 %1
	store i8 %7, i8* %8
	%9 = getelementptr inbounds i8, i8* %bools, i64 %1
	%10 = load i8, i8* %9
	%11 = icmp ne i8 %10, 0
	%12 = trunc i64 4 to i32
	%13 = and i32 %12, 31
	%14 = zext i1 %11 to i32
	%15 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %14, i32 %13, i32 31)
	%16 = trunc i32 %15 to i1
	%17 = zext i1 %16 to i8
	%18 = getelementptr inbounds i8, i8* %bools, i64 %1
	store i8 %17, i8* %18
	%19 = getelementptr inbounds i32, i32* %i32s, i64 %1
	%20 = load i32, i32* %19
	%21 = trunc i64 1 to i32
	%22 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %20, i32 %21, i32 0)
	%23 = getelementptr inbounds i32, i32* %i32s, i64 %1
	store i32 %22, i32* %23
	%24 = getelementptr inbounds i64, i64* %i64s, i64 %1
	%25 = load i64, i64* %24
	%26 = trunc i64 2 to i32
	%27 = trunc i64 %25 to i32
	%28 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %27, i32 %26, i32 6175)
	%29 = lshr i64 %25, 32
	%30 = trunc i64 %29 to i32
	%31 = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %30, i32 %26, i32 6175)
	%32 = zext i32 %28 to i64
	%33 = zext i32 %31 to i64
	%34 = shl i64 %33, 32
	%35 = or i64 %32, %34
	%36 = getelementptr inbounds i64, i64* %i64s, i64 %1
	store i64 %35, i64* %36
	%37 = getelementptr inbounds float, float* %f32s, i64 %1
	%38 = load float, float* %37
	%39 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%40 = and i32 %39, 31
	%41 = zext i32 %40 to i64
	%42 = sub i64 31, %41
	%43 = trunc i64 %42 to i32
	%44 = bitcast float %38 to i32
	%45 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %44, i32 %43, i32 31)
	%46 = bitcast i32 %45 to float
	%47 = getelementptr inbounds float, float* %f32s, i64 %1
	store float %46, float* %47
	%48 = getelementptr inbounds double, double* %f64s, i64 %1
	%49 = load double, double* %48
	%50 = trunc i64 7 to i32
	%51 = and i32 %50, 3
	%52 = bitcast double %49 to i64
	%53 = trunc i64 %52 to i32
	%54 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %53, i32 %51, i32 7199)
	%55 = lshr i64 %52, 32
	%56 = trunc i64 %55 to i32
	%57 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %56, i32 %51, i32 7199)
	%58 = zext i32 %54 to i64
	%59 = zext i32 %57 to i64
	%60 = shl i64 %59, 32
	%61 = or i64 %58, %60
	%62 = bitcast i64 %61 to double
	%63 = getelementptr inbounds double, double* %f64s, i64 %1
	store double %62, double* %63
	%64 = getelementptr inbounds { float, float }, { float, float }* %c64s, i64 %1, i32 0
	%65 = load float, float* %64
	%66 = getelementptr inbounds { float, float }, { float, float }* %c64s, i64 %1, i32 1
	%67 = load float, float* %66
	%68 = trunc i64 %k to i32
	%69 = and i32 %68, 15
	%70 = bitcast float %65 to i32
	%71 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %70, i32 %69, i32 4127)
	%72 = bitcast i32 %71 to float
	%73 = bitcast float %67 to i32
	%74 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %73, i32 %69, i32 4127)
	%75 = bitcast i32 %74 to float
	%76 = getelementptr inbounds { float, float }, { float, float }* %c64s, i64 %1, i32 0
	store float %72, float* %76
	%77 = getelementptr inbounds { float, float }, { float, float }* %c64s, i64 %1, i32 1
	store float %75, float* %77
	%78 = getelementptr inbounds { double, double }, { double, double }* %c128s, i64 %1, i32 0
	%79 = load double, double* %78
	%80 = getelementptr inbounds { double, double }, { double, double }* %c128s, i64 %1, i32 1
	%81 = load double, double* %80
	%82 = trunc i64 0 to i32
	%83 = bitcast double %79 to i64
	%84 = trunc i64 %83 to i32
	%85 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %84, i32 %82, i32 31)
	%86 = lshr i64 %83, 32
	%87 = trunc i64 %86 to i32
	%88 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %87, i32 %82, i32 31)
	%89 = zext i32 %85 to i64
	%90 = zext i32 %88 to i64
	%91 = shl i64 %90, 32
	%92 = or i64 %89, %91
	%93 = bitcast i64 %92 to double
	%94 = bitcast double %81 to i64
	%95 = trunc i64 %94 to i32
	%96 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %95, i32 %82, i32 31)
	%97 = lshr i64 %94, 32
	%98 = trunc i64 %97 to i32
	%99 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %98, i32 %82, i32 31)
	%100 = zext i32 %96 to i64
	%101 = zext i32 %99 to i64
	%102 = shl i64 %101, 32
	%103 = or i64 %100, %102
	%104 = bitcast i64 %103 to double
	%105 = getelementptr inbounds { double, double }, { double, double }* %c128s, i64 %1, i32 0
	store double %93, double* %105
	%106 = getelementptr inbounds { double, double }, { double, double }* %c128s, i64 %1, i32 1
	store double %104, double* %106
	%107 = trunc i64 0 to i32
	%108 = bitcast double 1.000000e+00 to i64
	%109 = trunc i64 %108 to i32
	%110 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %109, i32 %107, i32 31)
	%111 = lshr i64 %108, 32
	%112 = trunc i64 %111 to i32
	%113 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %112, i32 %107, i32 31)
	%114 = zext i32 %110 to i64
	%115 = zext i32 %113 to i64
	%116 = shl i64 %115, 32
	%117 = or i64 %114, %116
	%118 = bitcast i64 %117 to double
	%119 = add i64 %1, 32
	%120 = getelementptr inbounds double, double* %f64s, i64 %119
	store double %118, double* %120
	ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %0, i32 %1, i32 %2, i32 %3)

declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 %0, i32 %1, i32 %2, i32 %3)

declare i32 @llvm.nvvm.shfl.sync.up.i32(i32 %0, i32 %1, i32 %2, i32 %3)

declare i32 @llvm.nvvm.shfl.sync.down.i32(i32 %0, i32 %1, i32 %2, i32 %3)

!nvvm.annotations = !{!0, !1}

!0 = !{void (i8*, i8*, i32*, i64*, float*, double*, { float, float }*, { double, double }*, i64, i32*)* @shuffle, !"kernel", i32 1}
!1 = !{void (i8*, i8*, i32*, i64*, float*, double*, { float, float }*, { double, double }*, i64, i32*)* @shuffle, !"maxntidx", i32 32}
!2 = !{i32 0, i32 32}
