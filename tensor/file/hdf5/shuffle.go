package hdf5

import "encoding/binary"

// shuffle puts the first bytes of all elements of size bytes first, then the second, and so on.
// Bytes that are left over stay at the end.
func shuffle(dst, src []byte, size int) {
	byBytes(dst, src, size, shuffle4, shuffle8, func(k, n int) {
		out := dst[k*n : (k+1)*n]
		for i := range out {
			out[i] = src[i*size+k]
		}
	})
}

// byBytes moves the bytes of elements of 4 and 8 bytes by functions of their own, of others one byte of all n elements after another.
func byBytes(dst, src []byte, size int, four, eight func(dst, src []byte, n int), one func(k, n int)) {
	n := len(src) / max(size, 1)
	switch {
	case size <= 1 || n <= 1:
		copy(dst, src)
		return
	case size == 4:
		four(dst, src, n)
	case size == 8:
		eight(dst, src, n)
	default:
		for k := range size {
			one(k, n)
		}
	}
	copy(dst[n*size:], src[n*size:])
}

func shuffle4(dst, src []byte, n int) {
	a, b, c, d := dst[:n], dst[n:2*n], dst[2*n:3*n], dst[3*n:4*n]
	for i := range a {
		v := binary.LittleEndian.Uint32(src[4*i:])
		a[i], b[i], c[i], d[i] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
	}
}

func shuffle8(dst, src []byte, n int) {
	a, b, c, d := dst[:n], dst[n:2*n], dst[2*n:3*n], dst[3*n:4*n]
	e, f, g, h := dst[4*n:5*n], dst[5*n:6*n], dst[6*n:7*n], dst[7*n:8*n]
	for i := range a {
		v := binary.LittleEndian.Uint64(src[8*i:])
		a[i], b[i], c[i], d[i] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
		e[i], f[i], g[i], h[i] = byte(v>>32), byte(v>>40), byte(v>>48), byte(v>>56)
	}
}

// unshuffle undoes shuffle.
func unshuffle(dst, src []byte, size int) {
	byBytes(dst, src, size, unshuffle4, unshuffle8, func(k, n int) {
		for i, b := range src[k*n : (k+1)*n] {
			dst[i*size+k] = b
		}
	})
}

func unshuffle4(dst, src []byte, n int) {
	a, b, c, d := src[:n], src[n:2*n], src[2*n:3*n], src[3*n:4*n]
	dst = dst[:4*n]
	for i := range a {
		v := uint32(a[i]) | uint32(b[i])<<8 | uint32(c[i])<<16 | uint32(d[i])<<24
		binary.LittleEndian.PutUint32(dst[4*i:4*i+4], v)
	}
}

func unshuffle8(dst, src []byte, n int) {
	a, b, c, d := src[:n], src[n:2*n], src[2*n:3*n], src[3*n:4*n]
	e, f, g, h := src[4*n:5*n], src[5*n:6*n], src[6*n:7*n], src[7*n:8*n]
	dst = dst[:8*n]
	for i := range a {
		v := uint64(a[i]) | uint64(b[i])<<8 | uint64(c[i])<<16 | uint64(d[i])<<24 |
			uint64(e[i])<<32 | uint64(f[i])<<40 | uint64(g[i])<<48 | uint64(h[i])<<56
		binary.LittleEndian.PutUint64(dst[8*i:8*i+8], v)
	}
}
