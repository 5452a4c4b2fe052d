source_filename = "atomic"

@atomic.s.0 = internal addrspace(3) global [32 x i32] undef, align 16
@llvm.used = appending global [1 x i8*] [i8* addrspacecast (i8 addrspace(3)* bitcast ([32 x i32] addrspace(3)* @atomic.s.0 to i8 addrspace(3)*) to i8*)], section "llvm.metadata"

define void @atomic(i32* align 16 %i32s, i32* align 16 %u32s, i64* align 16 %i64s, i64* align 16 %u64s, float* align 16 %f32s, double* align 16 %f64s, i64 %k, i32* %status) nounwind {
entry:
	%0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%1 = zext i32 %0 to i64
	%2 = getelementptr inbounds [32 x i32], [32 x i32] addrspace(3)* @atomic.s.0, i64 0, i64 %1
	store i32 0, i32 addrspace(3)* %2
	call void @llvm.nvvm.barrier0()
	%3 = getelementptr inbounds i32, i32* %i32s, i64 0
	%4 = addrspacecast i32* %3 to i32 addrspace(1)*
	%5 = atomicrmw volatile add i32 addrspace(1)* %4, i32 1 syncscope("device") monotonic
	%6 = getelementptr inbounds i64, i64* %u64s, i64 0
	%7 = addrspacecast i64* %6 to i64 addrspace(1)*
	%8 = atomicrmw volatile add i64 addrspace(1)* %7, i64 %1 syncscope("device") monotonic
	%9 = getelementptr inbounds float, float* %f32s, i64 0
	%10 = addrspacecast float* %9 to float addrspace(1)*
	%11 = atomicrmw volatile fadd float addrspace(1)* %10, float 1.500000e+00 syncscope("device") monotonic
	%12 = getelementptr inbounds double, double* %f64s, i64 0
	%13 = addrspacecast double* %12 to double addrspace(1)*
	%14 = atomicrmw volatile fadd double addrspace(1)* %13, double 2.500000e+00 syncscope("device") monotonic
	%15 = getelementptr inbounds i32, i32* %i32s, i64 1
	%16 = addrspacecast i32* %15 to i32 addrspace(1)*
	%17 = trunc i64 %1 to i32
	%18 = atomicrmw volatile min i32 addrspace(1)* %16, i32 %17 syncscope("device") monotonic
	%19 = getelementptr inbounds i32, i32* %u32s, i64 1
	%20 = addrspacecast i32* %19 to i32 addrspace(1)*
	%21 = trunc i64 %1 to i32
	%22 = atomicrmw volatile umin i32 addrspace(1)* %20, i32 %21 syncscope("device") monotonic
	%23 = getelementptr inbounds i64, i64* %i64s, i64 1
	%24 = addrspacecast i64* %23 to i64 addrspace(1)*
	%25 = atomicrmw volatile max i64 addrspace(1)* %24, i64 %1 syncscope("device") monotonic
	%26 = getelementptr inbounds i64, i64* %u64s, i64 1
	%27 = addrspacecast i64* %26 to i64 addrspace(1)*
	%28 = atomicrmw volatile umax i64 addrspace(1)* %27, i64 %1 syncscope("device") monotonic
	%29 = getelementptr inbounds i64, i64* %i64s, i64 2
	%30 = addrspacecast i64* %29 to i64 addrspace(1)*
	%31 = atomicrmw volatile and i64 addrspace(1)* %30, i64 %1 syncscope("device") monotonic
	%32 = getelementptr inbounds i32, i32* %u32s, i64 2
	%33 = addrspacecast i32* %32 to i32 addrspace(1)*
	%34 = trunc i64 %1 to i32
	%35 = atomicrmw volatile or i32 addrspace(1)* %33, i32 %34 syncscope("device") monotonic
	%36 = getelementptr inbounds i64, i64* %i64s, i64 2
	%37 = addrspacecast i64* %36 to i64 addrspace(1)*
	%38 = atomicrmw volatile or i64 addrspace(1)* %37, i64 0 syncscope("device") monotonic
	%39 = getelementptr inbounds i32, i32* %u32s, i64 2
	%40 = addrspacecast i32* %39 to i32 addrspace(1)*
	%41 = atomicrmw volatile xchg i32 addrspace(1)* %40, i32 7 syncscope("device") monotonic
	%42 = getelementptr inbounds i32, i32* %u32s, i64 3
	%43 = addrspacecast i32* %42 to i32 addrspace(1)*
	%44 = atomicrmw volatile xchg i32 addrspace(1)* %43, i32 7 syncscope("device") monotonic
	%45 = getelementptr inbounds i64, i64* %i64s, i64 3
	%46 = addrspacecast i64* %45 to i64 addrspace(1)*
	%47 = add i64 %k, 1
	%48 = cmpxchg i64 addrspace(1)* %46, i64 %k, i64 %47 syncscope("device") monotonic monotonic
	%49 = extractvalue { i64, i1 } %48, 0
	%50 = getelementptr inbounds [32 x i32], [32 x i32] addrspace(3)* @atomic.s.0, i64 0, i64 %k
	%51 = atomicrmw volatile add i32 addrspace(3)* %50, i32 %44 syncscope("device") monotonic
	%52 = getelementptr inbounds [32 x i32], [32 x i32] addrspace(3)* @atomic.s.0, i64 0, i64 0
	%53 = cmpxchg i32 addrspace(3)* %52, i32 %51, i32 5 syncscope("device") monotonic monotonic
	%54 = extractvalue { i32, i1 } %53, 0
	%55 = add i64 %1, 4
	%56 = getelementptr inbounds i32, i32* %u32s, i64 %55
	store i32 %54, i32* %56
	%57 = add i64 %1, 4
	%58 = getelementptr inbounds i64, i64* %i64s, i64 %57
	store i64 %49, i64* %58
	ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare void @llvm.nvvm.barrier0()

!nvvm.annotations = !{!0, !1}

!0 = !{void (i32*, i32*, i64*, i64*, float*, double*, i64, i32*)* @atomic, !"kernel", i32 1}
!1 = !{void (i32*, i32*, i64*, i64*, float*, double*, i64, i32*)* @atomic, !"maxntidx", i32 32}
!2 = !{i32 0, i32 32}
