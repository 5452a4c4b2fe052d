source_filename = "half"

define internal i64 @half.body(i16* noalias readonly %a, i16* noalias readonly %b, i16* noalias %out, i16* noalias %outb, i64 %n, i32* %stop, i64 %c, i64 %lo, i64 %hi) noinline nounwind {
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
	%4 = getelementptr inbounds i16, i16* %a, i64 %i
	%5 = load i16, i16* %4, !llvm.access.group !1
	%6 = zext i16 %5 to i32
	%7 = call float @half.f16_to_f32(i32 %6)
	%8 = getelementptr inbounds i16, i16* %b, i64 %i
	%9 = load i16, i16* %8, !llvm.access.group !1
	%10 = zext i16 %9 to i32
	%11 = call float @half.bf16_to_f32(i32 %10)
	%12 = call i32 @half.f32_to_bf16(float %11)
	%13 = call float @half.bf16_to_f32(i32 %12)
	%14 = fmul float %7, %13
	%15 = call i32 @half.f32_to_f16(float %14)
	%16 = trunc i32 %15 to i16
	%17 = getelementptr inbounds i16, i16* %out, i64 %i
	store i16 %16, i16* %17, !llvm.access.group !1
	%18 = getelementptr inbounds i16, i16* %b, i64 %i
	%19 = load i16, i16* %18, !llvm.access.group !1
	%20 = zext i16 %19 to i32
	%21 = call float @half.bf16_to_f32(i32 %20)
	%22 = getelementptr inbounds i16, i16* %a, i64 %i
	%23 = load i16, i16* %22, !llvm.access.group !1
	%24 = zext i16 %23 to i32
	%25 = call float @half.f16_to_f32(i32 %24)
	%26 = call i32 @half.f32_to_f16(float %25)
	%27 = call float @half.f16_to_f32(i32 %26)
	%28 = fadd float %21, %27
	%29 = call i32 @half.f32_to_bf16(float %28)
	%30 = trunc i32 %29 to i16
	%31 = getelementptr inbounds i16, i16* %outb, i64 %i
	store i16 %30, i16* %31, !llvm.access.group !1
	%i.next = add nsw i64 %i, 1
	%32 = icmp slt i64 %i.next, %i.to
	br i1 %32, label %for.i, label %for.i.strip.end, !llvm.loop !2

for.i.strip.end:
	%33 = icmp eq i64 %i.to, %hi
	br i1 %33, label %for.i.end, label %for.i.strip.next, !prof !3

for.i.strip.next:
	%34 = load volatile i32, i32* %stop, align 4
	%35 = icmp eq i32 %34, 0
	br i1 %35, label %for.i.strip, label %stopped, !prof !3

for.i.end:
	ret i64 0

stopped:
	ret i64 -1
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
	%0 = alloca i32
	store i32 0, i32* %0
	%1 = getelementptr inbounds i64, i64* %args, i64 0
	%2 = bitcast i64* %1 to i16**
	%a.arg = load i16*, i16** %2
	%3 = getelementptr inbounds i64, i64* %args, i64 1
	%4 = bitcast i64* %3 to i16**
	%b.arg = load i16*, i16** %4
	%5 = getelementptr inbounds i64, i64* %args, i64 2
	%6 = bitcast i64* %5 to i16**
	%out.arg = load i16*, i16** %6
	%7 = getelementptr inbounds i64, i64* %args, i64 3
	%8 = bitcast i64* %7 to i16**
	%outb.arg = load i16*, i16** %8
	%9 = getelementptr inbounds i64, i64* %args, i64 4
	%n.arg = load i64, i64* %9
	%10 = getelementptr inbounds i64, i64* %args, i64 5
	%11 = bitcast i64* %10 to i32**
	%stop.arg = load i32*, i32** %11
	%12 = icmp ne i32* %stop.arg, null
	%13 = select i1 %12, i32* %stop.arg, i32* %0
	%14 = call i64 @half.body(i16* %a.arg, i16* %b.arg, i16* %out.arg, i16* %outb.arg, i64 %n.arg, i32* %13, i64 %chunk, i64 %lo, i64 %hi)
	ret i64 %14
}

!0 = !{!"llvm.loop.mustprogress"}
!1 = distinct !{}
!2 = distinct !{!2, !0, !{!"llvm.loop.parallel_accesses", !1}}
!3 = !{!"branch_weights", i32 1048576, i32 1}
