source_filename = "once"

define void @once(i8* noalias readonly align 16 %a, i16* noalias readonly align 16 %b, i32* noalias readonly align 16 %c, i64* noalias readonly align 16 %d, float* noalias readonly align 16 %e, double* noalias readonly align 16 %f, i8* noalias readonly align 16 %g, i16* noalias readonly align 16 %h, { double, double }* noalias readonly align 16 %z, double* noalias align 16 %y, i32* %status) nounwind {
entry:
	%0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !3
	%1 = zext i32 %0 to i64
	%2 = mul i64 10, %1
	%3 = getelementptr inbounds i8, i8* %a, i64 %1
	%4 = addrspacecast i8* %3 to i8 addrspace(1)*
	%5 = call i16 asm "ld.global.cs.nc.u8 $0, [$1];", "=h,l"(i8 addrspace(1)* %4) nounwind readnone
	%6 = trunc i16 %5 to i8
	%7 = uitofp i8 %6 to double
	%8 = getelementptr inbounds double, double* %y, i64 %2
	store double %7, double* %8
	%9 = mul i64 10, %1
	%10 = add i64 %9, 1
	%11 = getelementptr inbounds i16, i16* %b, i64 %1
	%12 = addrspacecast i16* %11 to i16 addrspace(1)*
	%13 = call i16 asm "ld.global.cs.nc.u16 $0, [$1];", "=h,l"(i16 addrspace(1)* %12) nounwind readnone
	%14 = sitofp i16 %13 to double
	%15 = getelementptr inbounds double, double* %y, i64 %10
	store double %14, double* %15
	%16 = mul i64 10, %1
	%17 = add i64 %16, 2
	%18 = getelementptr inbounds i32, i32* %c, i64 %1
	%19 = addrspacecast i32* %18 to i32 addrspace(1)*
	%20 = call i32 asm "ld.global.cs.nc.u32 $0, [$1];", "=r,l"(i32 addrspace(1)* %19) nounwind readnone
	%21 = uitofp i32 %20 to double
	%22 = getelementptr inbounds double, double* %y, i64 %17
	store double %21, double* %22
	%23 = mul i64 10, %1
	%24 = add i64 %23, 3
	%25 = getelementptr inbounds i64, i64* %d, i64 %1
	%26 = addrspacecast i64* %25 to i64 addrspace(1)*
	%27 = call i64 asm "ld.global.cs.nc.u64 $0, [$1];", "=l,l"(i64 addrspace(1)* %26) nounwind readnone
	%28 = sitofp i64 %27 to double
	%29 = getelementptr inbounds double, double* %y, i64 %24
	store double %28, double* %29
	%30 = mul i64 10, %1
	%31 = add i64 %30, 4
	%32 = getelementptr inbounds float, float* %e, i64 %1
	%33 = addrspacecast float* %32 to float addrspace(1)*
	%34 = call float asm "ld.global.cs.nc.f32 $0, [$1];", "=f,l"(float addrspace(1)* %33) nounwind readnone
	%35 = fpext float %34 to double
	%36 = getelementptr inbounds double, double* %y, i64 %31
	store double %35, double* %36
	%37 = mul i64 10, %1
	%38 = add i64 %37, 5
	%39 = getelementptr inbounds double, double* %f, i64 %1
	%40 = addrspacecast double* %39 to double addrspace(1)*
	%41 = call double asm "ld.global.cs.nc.f64 $0, [$1];", "=d,l"(double addrspace(1)* %40) nounwind readnone
	%42 = getelementptr inbounds double, double* %y, i64 %38
	store double %41, double* %42
	%43 = getelementptr inbounds i8, i8* %g, i64 %1
	%44 = addrspacecast i8* %43 to i8 addrspace(1)*
	%45 = call i16 asm "ld.global.cs.nc.u8 $0, [$1];", "=h,l"(i8 addrspace(1)* %44) nounwind readnone
	%46 = trunc i16 %45 to i8
	%47 = icmp ne i8 %46, 0
	br i1 %47, label %if.then, label %if.end

if.then:
	%48 = mul i64 10, %1
	%49 = add i64 %48, 6
	%50 = getelementptr inbounds double, double* %y, i64 %49
	store double 1.000000e+00, double* %50
	br label %if.end

if.end:
	%51 = mul i64 10, %1
	%52 = add i64 %51, 7
	%53 = getelementptr inbounds i16, i16* %h, i64 %1
	%54 = addrspacecast i16* %53 to i16 addrspace(1)*
	%55 = call i16 asm "ld.global.cs.nc.u16 $0, [$1];", "=h,l"(i16 addrspace(1)* %54) nounwind readnone
	%56 = zext i16 %55 to i32
	%57 = call float @half.f16_to_f32(i32 %56)
	%58 = fpext float %57 to double
	%59 = getelementptr inbounds double, double* %y, i64 %52
	store double %58, double* %59
	%60 = mul i64 10, %1
	%61 = add i64 %60, 8
	%62 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %1, i32 0
	%63 = addrspacecast double* %62 to double addrspace(1)*
	%64 = call double asm "ld.global.cs.nc.f64 $0, [$1];", "=d,l"(double addrspace(1)* %63) nounwind readnone
	%65 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %1, i32 1
	%66 = addrspacecast double* %65 to double addrspace(1)*
	%67 = call double asm "ld.global.cs.nc.f64 $0, [$1];", "=d,l"(double addrspace(1)* %66) nounwind readnone
	%68 = getelementptr inbounds double, double* %y, i64 %61
	store double %64, double* %68
	%69 = mul i64 10, %1
	%70 = add i64 %69, 9
	%71 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %1, i32 0
	%72 = addrspacecast double* %71 to double addrspace(1)*
	%73 = call double asm "ld.global.cs.nc.f64 $0, [$1];", "=d,l"(double addrspace(1)* %72) nounwind readnone
	%74 = getelementptr inbounds { double, double }, { double, double }* %z, i64 %1, i32 1
	%75 = addrspacecast double* %74 to double addrspace(1)*
	%76 = call double asm "ld.global.cs.nc.f64 $0, [$1];", "=d,l"(double addrspace(1)* %75) nounwind readnone
	%77 = getelementptr inbounds double, double* %y, i64 %70
	store double %76, double* %77
	ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define internal float @half.f16_to_f32(i32 %h) inlinehint nounwind {
entry:
	%0 = and i32 %h, 32767
	%1 = shl i32 %0, 13
	%2 = sitofp i32 %0 to float
	%3 = fmul float %2, 0x3E70000000000000
	%4 = bitcast float %3 to i32
	%5 = icmp ugt i32 %0, 31744
	%6 = select i1 %5, i32 2143289344, i32 2139095040
	%7 = icmp ult i32 %0, 1024
	%8 = add i32 %1, 939524096
	%9 = select i1 %7, i32 %4, i32 %8
	%10 = icmp uge i32 %0, 31744
	%11 = or i32 %1, %6
	%12 = select i1 %10, i32 %11, i32 %9
	%13 = and i32 %h, 32768
	%14 = shl i32 %13, 16
	%15 = or i32 %12, %14
	%16 = bitcast i32 %15 to float
	ret float %16
}

!nvvm.annotations = !{!0, !1, !2}

!0 = !{void (i8*, i16*, i32*, i64*, float*, double*, i8*, i16*, { double, double }*, double*, i32*)* @once, !"kernel", i32 1}
!1 = !{void (i8*, i16*, i32*, i64*, float*, double*, i8*, i16*, { double, double }*, double*, i32*)* @once, !"maxntidx", i32 256}
!2 = !{void (i8*, i16*, i32*, i64*, float*, double*, i8*, i16*, { double, double }*, double*, i32*)* @once, !"minctasm", i32 4}
!3 = !{i32 0, i32 256}
