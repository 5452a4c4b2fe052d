source_filename = "atomic"

@atomic.s.0 = internal addrspace(3) global [32 x i32] undef, align 16
@llvm.used = appending global [1 x i8*] [i8* addrspacecast (i8 addrspace(3)* bitcast ([32 x i32] addrspace(3)* @atomic.s.0 to i8 addrspace(3)*) to i8*)], section "llvm.metadata"

define void @atomic(i32* %i32s, i32* %u32s, i64* %i64s, i64* %u64s, float* %f32s, double* %f64s, i64 %k, i32* %status) nounwind {
entry:
	%0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
	%1 = zext i32 %0 to i64
	%2 = getelementptr inbounds i32, i32* addrspacecast (i32 addrspace(3)* getelementptr ([32 x i32], [32 x i32] addrspace(3)* @atomic.s.0, i64 0, i64 0) to i32*), i64 %1
	store i32 0, i32* %2
	call void @llvm.nvvm.barrier0()
	%3 = getelementptr inbounds i32, i32* %i32s, i64 0
	%4 = atomicrmw add i32* %3, i32 1 syncscope("device") monotonic
	%5 = getelementptr inbounds i64, i64* %u64s, i64 0
	%6 = atomicrmw add i64* %5, i64 %1 syncscope("device") monotonic
	%7 = getelementptr inbounds float, float* %f32s, i64 0
	%8 = atomicrmw fadd float* %7, float 1.500000e+00 syncscope("device") monotonic
	%9 = getelementptr inbounds double, double* %f64s, i64 0
	%10 = atomicrmw fadd double* %9, double 2.500000e+00 syncscope("device") monotonic
	%11 = getelementptr inbounds i32, i32* %i32s, i64 1
	%12 = trunc i64 %1 to i32
	%13 = atomicrmw min i32* %11, i32 %12 syncscope("device") monotonic
	%14 = getelementptr inbounds i32, i32* %u32s, i64 1
	%15 = trunc i64 %1 to i32
	%16 = atomicrmw umin i32* %14, i32 %15 syncscope("device") monotonic
	%17 = getelementptr inbounds i64, i64* %i64s, i64 1
	%18 = atomicrmw max i64* %17, i64 %1 syncscope("device") monotonic
	%19 = getelementptr inbounds i64, i64* %u64s, i64 1
	%20 = atomicrmw umax i64* %19, i64 %1 syncscope("device") monotonic
	%21 = getelementptr inbounds i64, i64* %i64s, i64 2
	%22 = atomicrmw and i64* %21, i64 %1 syncscope("device") monotonic
	%23 = getelementptr inbounds i32, i32* %u32s, i64 2
	%24 = trunc i64 %1 to i32
	%25 = atomicrmw or i32* %23, i32 %24 syncscope("device") monotonic
	%26 = getelementptr inbounds i32, i32* %u32s, i64 3
	%27 = atomicrmw xchg i32* %26, i32 7 syncscope("device") monotonic
	%28 = getelementptr inbounds i64, i64* %i64s, i64 3
	%29 = add i64 %k, 1
	%30 = cmpxchg i64* %28, i64 %k, i64 %29 syncscope("device") monotonic monotonic
	%31 = extractvalue { i64, i1 } %30, 0
	%32 = getelementptr inbounds i32, i32* addrspacecast (i32 addrspace(3)* getelementptr ([32 x i32], [32 x i32] addrspace(3)* @atomic.s.0, i64 0, i64 0) to i32*), i64 %k
	%33 = atomicrmw add i32* %32, i32 %27 syncscope("device") monotonic
	%34 = getelementptr inbounds i32, i32* addrspacecast (i32 addrspace(3)* getelementptr ([32 x i32], [32 x i32] addrspace(3)* @atomic.s.0, i64 0, i64 0) to i32*), i64 0
	%35 = cmpxchg i32* %34, i32 %33, i32 5 syncscope("device") monotonic monotonic
	%36 = extractvalue { i32, i1 } %35, 0
	%37 = add i64 %1, 4
	%38 = getelementptr inbounds i32, i32* %u32s, i64 %37
	store i32 %36, i32* %38
	%39 = add i64 %1, 4
	%40 = getelementptr inbounds i64, i64* %i64s, i64 %39
	store i64 %31, i64* %40
	ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare void @llvm.nvvm.barrier0()

!nvvm.annotations = !{!0, !1}

!0 = !{void (i32*, i32*, i64*, i64*, float*, double*, i64, i32*)* @atomic, !"kernel", i32 1}
!1 = !{void (i32*, i32*, i64*, i64*, float*, double*, i64, i32*)* @atomic, !"maxntidx", i32 32}
