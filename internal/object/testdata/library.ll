; What the functions of kernels.ll find elsewhere.

define i64 @seven(i64 %x) {
  %y = add i64 %x, 7
  ret i64 %y
}

define void @clear(i64* %place, i64 %n) {
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %at = getelementptr i64, i64* %place, i64 %i
  store volatile i64 0, i64* %at
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

define i8* @memset(i8* %place, i32 %value, i64 %n) {
  %byte = trunc i32 %value to i8
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %at = getelementptr i8, i8* %place, i64 %i
  store volatile i8 %byte, i8* %at
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i8* %place
}
