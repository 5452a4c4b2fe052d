source_filename = "half"

define internal i64 @half.body(i16* noalias readonly %a, i16* noalias readonly %b, i16* noalias %out, i16* noalias %outb, i64 %n, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
entry:
	%0 = icmp slt i64 %lo, %hi
	br i1 %0, label %for.i, label %for.i.end

for.i:
	%i = phi i64 [ %lo, %entry ], [ %i.next, %for.i ]
	%1 = getelementptr inbounds i16, i16* %a, i64 %i
	%2 = load i16, i16* %1, !llvm.access.group !1
	%3 = zext i16 %2 to i32
	%4 = call float @half.f16_to_f32(i32 %3)
	%5 = getelementptr inbounds i16, i16* %b, i64 %i
	%6 = load i16, i16* %5, !llvm.access.group !1
	%7 = zext i16 %6 to i32
	%8 = call float @half.bf16_to_f32(i32 %7)
	%9 = call i32 @half.f32_to_bf16(float %8)
	%10 = call float @half.bf16_to_f32(i32 %9)
	%11 = fmul float %4, %10
	%12 = call i32 @half.f32_to_f16(float %11)
	%13 = trunc i32 %12 to i16
	%14 = getelementptr inbounds i16, i16* %out, i64 %i
	store i16 %13, i16* %14, !llvm.access.group !1
	%15 = getelementptr inbounds i16, i16* %b, i64 %i
	%16 = load i16, i16* %15, !llvm.access.group !1
	%17 = zext i16 %16 to i32
	%18 = call float @half.bf16_to_f32(i32 %17)
	%19 = getelementptr inbounds i16, i16* %a, i64 %i
	%20 = load i16, i16* %19, !llvm.access.group !1
	%21 = zext i16 %20 to i32
	%22 = call float @half.f16_to_f32(i32 %21)
	%23 = call i32 @half.f32_to_f16(float %22)
	%24 = call float @half.f16_to_f32(i32 %23)
	%25 = fadd float %18, %24
	%26 = call i32 @half.f32_to_bf16(float %25)
	%27 = trunc i32 %26 to i16
	%28 = getelementptr inbounds i16, i16* %outb, i64 %i
	store i16 %27, i16* %28, !llvm.access.group !1
	%i.next = add nsw i64 %i, 1
	%29 = icmp slt i64 %i.next, %hi
	br i1 %29, label %for.i, label %for.i.end, !llvm.loop !2

for.i.end:
	ret i64 0
}

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

define internal float @half.bf16_to_f32(i32 %h) inlinehint nounwind {
entry:
	%0 = shl i32 %h, 16
	%1 = bitcast i32 %0 to float
	ret float %1
}

define internal i32 @half.f32_to_bf16(float %x) inlinehint nounwind {
entry:
	%0 = bitcast float %x to i32
	%1 = lshr i32 %0, 16
	%2 = add i32 %0, 32767
	%3 = and i32 %1, 1
	%4 = add i32 %2, %3
	%5 = lshr i32 %4, 16
	%6 = fcmp une float %x, %x
	%7 = or i32 %1, 64
	%8 = select i1 %6, i32 %7, i32 %5
	ret i32 %8
}

define internal i32 @half.f32_to_f16(float %x) inlinehint nounwind {
entry:
	%0 = bitcast float %x to i32
	%1 = and i32 %0, 2147483647
	%2 = lshr i32 %1, 13
	%3 = bitcast i32 %1 to float
	%4 = fadd float %3, 5.000000e-01
	%5 = bitcast float %4 to i32
	%6 = sub i32 %5, 1056964608
	%7 = sub i32 %1, 939524096
	%8 = add i32 %7, 4095
	%9 = and i32 %2, 1
	%10 = add i32 %8, %9
	%11 = lshr i32 %10, 13
	%12 = icmp ult i32 %1, 947912704
	%13 = select i1 %12, i32 %6, i32 %11
	%14 = icmp uge i32 %1, 1199566848
	%15 = select i1 %14, i32 31744, i32 %13
	%16 = and i32 %2, 1023
	%17 = or i32 32256, %16
	%18 = icmp ugt i32 %1, 2139095040
	%19 = select i1 %18, i32 %17, i32 %15
	%20 = lshr i32 %0, 16
	%21 = and i32 %20, 32768
	%22 = or i32 %19, %21
	ret i32 %22
}

define i64 @half(i64* noalias readonly %args, i64 %chunk, i64 %lo, i64 %hi) nounwind {
entry:
	%0 = getelementptr inbounds i64, i64* %args, i64 0
	%1 = bitcast i64* %0 to i16**
	%a.arg = load i16*, i16** %1
	%2 = getelementptr inbounds i64, i64* %args, i64 1
	%3 = bitcast i64* %2 to i16**
	%b.arg = load i16*, i16** %3
	%4 = getelementptr inbounds i64, i64* %args, i64 2
	%5 = bitcast i64* %4 to i16**
	%out.arg = load i16*, i16** %5
	%6 = getelementptr inbounds i64, i64* %args, i64 3
	%7 = bitcast i64* %6 to i16**
	%outb.arg = load i16*, i16** %7
	%8 = getelementptr inbounds i64, i64* %args, i64 4
	%n.arg = load i64, i64* %8
	%9 = call i64 @half.body(i16* %a.arg, i16* %b.arg, i16* %out.arg, i16* %outb.arg, i64 %n.arg, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %9
}

!0 = !{!"llvm.loop.mustprogress"}
!1 = distinct !{}
!2 = distinct !{!2, !0, !{!"llvm.loop.parallel_accesses", !1}}
