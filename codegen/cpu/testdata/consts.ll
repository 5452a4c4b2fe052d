source_filename = "consts"

define internal i64 @consts.body(double* noalias %f, float* noalias %g, i64* noalias %i, i64* noalias %u, { float, float }* noalias %z, i32* %stop, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
entry:
	%0 = getelementptr inbounds double, double* %f, i64 0
	store double 1.500000e+00, double* %0
	%1 = getelementptr inbounds double, double* %f, i64 1
	store double 1.000000e-01, double* %1
	%2 = getelementptr inbounds double, double* %f, i64 2
	store double 0xFFF0000000000000, double* %2
	%3 = getelementptr inbounds double, double* %f, i64 3
	store double 0x7FF8000000000000, double* %3
	%4 = getelementptr inbounds double, double* %f, i64 4
	store double 0x7FF0000000000001, double* %4
	%5 = getelementptr inbounds double, double* %f, i64 5
	store double -0.000000e+00, double* %5
	%6 = getelementptr inbounds double, double* %f, i64 6
	store double 4.940656e-324, double* %6
	%7 = getelementptr inbounds float, float* %g, i64 0
	store float 1.500000e+00, float* %7
	%8 = getelementptr inbounds float, float* %g, i64 1
	store float 0x3FB99999A0000000, float* %8
	%9 = getelementptr inbounds float, float* %g, i64 2
	store float 0x7FF0000000000000, float* %9
	%10 = getelementptr inbounds float, float* %g, i64 3
	store float 0xFFF8002460000000, float* %10
	%11 = getelementptr inbounds float, float* %g, i64 4
	store float 0x7FF0000020000000, float* %11
	%12 = getelementptr inbounds i64, i64* %i, i64 0
	store i64 -9223372036854775808, i64* %12
	%13 = getelementptr inbounds i64, i64* %u, i64 0
	store i64 -1, i64* %13
	%14 = getelementptr inbounds { float, float }, { float, float }* %z, i64 0, i32 0
	store float 1.000000e+00, float* %14
	%15 = getelementptr inbounds { float, float }, { float, float }* %z, i64 0, i32 1
	store float -2.000000e+00, float* %15
	ret i64 0
}

define i64 @consts(i64* noalias readonly %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
entry:
	%0 = alloca i32
	store i32 0, i32* %0
	%1 = getelementptr inbounds i64, i64* %args, i64 0
	%2 = bitcast i64* %1 to double**
	%f.arg = load double*, double** %2
	%3 = getelementptr inbounds i64, i64* %args, i64 1
	%4 = bitcast i64* %3 to float**
	%g.arg = load float*, float** %4
	%5 = getelementptr inbounds i64, i64* %args, i64 2
	%6 = bitcast i64* %5 to i64**
	%i.arg = load i64*, i64** %6
	%7 = getelementptr inbounds i64, i64* %args, i64 3
	%8 = bitcast i64* %7 to i64**
	%u.arg = load i64*, i64** %8
	%9 = getelementptr inbounds i64, i64* %args, i64 4
	%10 = bitcast i64* %9 to { float, float }**
	%z.arg = load { float, float }*, { float, float }** %10
	%11 = getelementptr inbounds i64, i64* %args, i64 5
	%12 = bitcast i64* %11 to i32**
	%stop.arg = load i32*, i32** %12
	%13 = icmp ne i32* %stop.arg, null
	%14 = select i1 %13, i32* %stop.arg, i32* %0
	%15 = call i64 @consts.body(double* %f.arg, float* %g.arg, i64* %i.arg, i64* %u.arg, { float, float }* %z.arg, i32* %14, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %15
}
