; Functions that need every kind of relocation that LLVM makes for kernels: jump
; tables, tables of constants and of addresses, calls and addresses of functions
; elsewhere. All have the signature of kernels.

@handlers = internal constant [3 x i64 (i64)*] [i64 (i64)* @double, i64 (i64)* @square, i64 (i64)* @negate]
@primes = internal constant [8 x i16] [i16 2, i16 3, i16 5, i16 7, i16 11, i16 13, i16 17, i16 19]

declare i64 @seven(i64)
declare void @clear(i64*, i64)
declare void @llvm.memset.p0i8.i64(i8*, i8, i64, i1)

define internal i64 @double(i64 %x) noinline {
  %y = add i64 %x, %x
  ret i64 %y
}

define internal i64 @square(i64 %x) noinline {
  %y = mul i64 %x, %x
  ret i64 %y
}

define internal i64 @negate(i64 %x) noinline {
  %y = sub i64 0, %x
  ret i64 %y
}

define i64 @jumps(i64* %args, i64 %a, i64 %b, i64 %c) {
  switch i64 %a, label %other [
    i64 0, label %zero
    i64 1, label %one
    i64 2, label %two
    i64 3, label %three
    i64 4, label %four
    i64 5, label %five
  ]
zero:
  %r0 = mul i64 %b, 3
  ret i64 %r0
one:
  %r1 = call i64 @double(i64 %b)
  ret i64 %r1
two:
  store volatile i64 %c, i64* %args
  ret i64 %c
three:
  %r3 = sdiv i64 %b, %c
  ret i64 %r3
four:
  %r4 = call i64 @square(i64 %c)
  ret i64 %r4
five:
  %r5 = xor i64 %b, %c
  ret i64 %r5
other:
  ret i64 -1
}

define i64 @tables(i64* %args, i64 %a, i64 %b, i64 %c) {
  %place = getelementptr [8 x i16], [8 x i16]* @primes, i64 0, i64 %a
  %prime = load i16, i16* %place
  %wide = zext i16 %prime to i64
  %slot = getelementptr [3 x i64 (i64)*], [3 x i64 (i64)*]* @handlers, i64 0, i64 %b
  %handler = load i64 (i64)*, i64 (i64)** %slot
  %r = call i64 %handler(i64 %wide)
  ret i64 %r
}

define i64 @constants(i64* %args, i64 %a, i64 %b, i64 %c) {
  %x = sitofp i64 %a to double
  %v0 = insertelement <4 x double> undef, double %x, i32 0
  %v1 = shufflevector <4 x double> %v0, <4 x double> undef, <4 x i32> zeroinitializer
  %v2 = fmul <4 x double> %v1, <double 1.5, double 2.5, double 3.5, double 4.5>
  %p0 = extractelement <4 x double> %v2, i32 0
  %p1 = extractelement <4 x double> %v2, i32 1
  %p2 = extractelement <4 x double> %v2, i32 2
  %p3 = extractelement <4 x double> %v2, i32 3
  %s0 = fadd double %p0, %p1
  %s1 = fmul double %p2, 8.125
  %s2 = fadd double %s1, %p3
  %s3 = fadd double %s0, %s2
  %y = fmul double %s3, 1.6e1
  %r = fptosi double %y to i64
  ret i64 %r
}

define i64 @elsewhere(i64* %args, i64 %a, i64 %b, i64 %c) {
  %x = call i64 @seven(i64 %a)
  call void @clear(i64* %args, i64 %b)
  store i64 ptrtoint (i64 (i64)* @seven to i64), i64* %args
  %again = load volatile i64, i64* %args
  %f = inttoptr i64 %again to i64 (i64)*
  %y = call i64 %f(i64 %c)
  %r = mul i64 %x, %y
  ret i64 %r
}

define i64 @zeros(i64* %args, i64 %a, i64 %b, i64 %c) {
  %place = bitcast i64* %args to i8*
  %bytes = shl i64 %a, 3
  call void @llvm.memset.p0i8.i64(i8* %place, i8 0, i64 %bytes, i1 false)
  ret i64 0
}
