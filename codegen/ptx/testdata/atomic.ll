source_filename = "atomic"

@atomic.s.0 = internal addrspace(3) global [32 x i32] undef, align 16
@llvm.used = appending global [1 x i8*] [i8* addrspacecast (i8 addrspace(3)* bitcast ([32 x i32] addrspace(3)* @atomic.s.0 to i8 addrspace(3)*) to i8*)], section "llvm.metadata"

define void @atomic(i32* align 16 %i32s, i32* align 16 %u32s, i64* align 16 %i64s, i64* align 16 %u64s, i64 %k, i32* %status) nounwind {
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
	%9 = getelementptr inbounds i32, i32* %i32s, i64 1
	%10 = addrspacecast i32* %9 to i32 addrspace(1)*
	%11 = trunc i64 %1 to i32
	%12 = atomicrmw volatile min i32 addrspace(1)* %10, i32 %11 syncscope("device") monotonic
	%13 = getelementptr inbounds i32, i32* %u32s, i64 1
	%14 = addrspacecast i32* %13 to i32 addrspace(1)*
	%15 = trunc i64 %1 to i32
	%16 = atomicrmw volatile umin i32 addrspace(1)* %14, i32 %15 syncscope("device") monotonic
	%17 = getelementptr inbounds i64, i64* %i64s, i64 1
	%18 = addrspacecast i64* %17 to i64 addrspace(1)*
	%19 = atomicrmw volatile max i64 addrspace(1)* %18, i64 %1 syncscope("device") monotonic
	%20 = getelementptr inbounds i64, i64* %u64s, i64 1
	%21 = addrspacecast i64* %20 to i64 addrspace(1)*
	%22 = atomicrmw volatile umax i64 addrspace(1)* %21, i64 %1 syncscope("device") monotonic
	%23 = getelementptr inbounds i64, i64* %i64s, i64 2
	%24 = addrspacecast i64* %23 to i64 addrspace(1)*
	%25 = atomicrmw volatile and i64 addrspace(1)* %24, i64 %1 syncscope("device") monotonic
	%26 = getelementptr inbounds i32, i32* %u32s, i64 2
	%27 = addrspacecast i32* %26 to i32 addrspace(1)*
	%28 = trunc i64 %1 to i32
	%29 = atomicrmw volatile or i32 addrspace(1)* %27, i32 %28 syncscope("device") monotonic
	%30 = getelementptr inbounds i64, i64* %i64s, i64 2
	%31 = addrspacecast i64* %30 to i64 addrspace(1)*
	%32 = atomicrmw volatile or i64 addrspace(1)* %31, i64 0 syncscope("device") monotonic
	%33 = getelementptr inbounds i32, i32* %u32s, i64 2
	%34 = addrspacecast i32* %33 to i32 addrspace(1)*
	%35 = atomicrmw volatile xchg i32 addrspace(1)* %34, i32 7 syncscope("device") monotonic
	%36 = getelementptr inbounds i32, i32* %u32s, i64 3
	%37 = addrspacecast i32* %36 to i32 addrspace(1)*
	%38 = atomicrmw volatile xchg i32 addrspace(1)* %37, i32 7 syncscope("device") monotonic
	%39 = getelementptr inbounds i64, i64* %i64s, i64 3
	%40 = addrspacecast i64* %39 to i64 addrspace(1)*
	%41 = add i64 %k, 1
	%42 = cmpxchg i64 addrspace(1)* %40, i64 %k, i64 %41 syncscope("device") monotonic monotonic
	%43 = extractvalue { i64, i1 } %42, 0
	%44 = getelementptr inbounds [32 x i32], [32 x i32] addrspace(3)* @atomic.s.0, i64 0, i64 %k
	%45 = atomicrmw volatile add i32 addrspace(3)* %44, i32 %38 syncscope("device") monotonic
	%46 = getelementptr inbounds [32 x i32], [32 x i32] addrspace(3)* @atomic.s.0, i64 0, i64 0
	%47 = cmpxchg i32 addrspace(3)* %46, i32 %45, i32 5 syncscope("device") monotonic monotonic
	%48 = extractvalue { i32, i1 } %47, 0
	%49 = add i64 %1, 4
	%50 = getelementptr inbounds i32, i32* %u32s, i64 %49
	store i32 %48, i32* %50
	%51 = add i64 %1, 4
	%52 = getelementptr inbounds i64, i64* %i64s, i64 %51
	store i64 %43, i64* %52
	ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare void @llvm.nvvm.barrier0()

!nvvm.annotations = !{!0, !1}

!0 = !{void (i32*, i32*, i64*, i64*, i64, i32*)* @atomic, !"kernel", i32 1}
!1 = !{void (i32*, i32*, i64*, i64*, i64, i32*)* @atomic, !"maxntidx", i32 32}
!2 = !{i32 0, i32 32}
