package hdf5

import (
	"bytes"
	"testing"
)

// TestShuffle compares shuffle with its definition, and undoes it.
func TestShuffle(t *testing.T) {
	for _, size := range []int{0, 1, 2, 3, 4, 8, 16, 100} {
		for _, n := range []int{0, 1, 7, 8, 15, 16, 17, 64, 1001} {
			src := numbered(Uint8, n)
			want := bytes.Clone(src) // as it is, but for the bytes of two or more whole elements
			if count := n / max(size, 1); size > 1 && count > 1 {
				for i := range count * size {
					want[i%size*count+i/size] = src[i]
				}
			}
			got, back := make([]byte, n), make([]byte, n)
			shuffle(got, src, size)
			unshuffle(back, got, size)
			if !bytes.Equal(got, want) || !bytes.Equal(back, src) {
				t.Errorf("%d bytes of elements of %d: shuffled to %v, want %v; back to %v", n, size, got, want, back)
			}
		}
	}
}

func TestLZF(t *testing.T) {
	for _, c := range []struct {
		name, src, want string
	}{
		{"nothing", "", ""},
		{"literals", "\x02abc", "abc"},
		{"a copy", "\x02abc\x20\x02", "abcabc"},
		{"a copy of itself", "\x00a\xe0\x01\x00", "aaaaaaaaaaa"},
		{"run cut short", "\x05abc", "!"},
		{"copy cut short", "\x00a\x20", "!"},
		{"length cut short", "\x00a\xe0", "!"},
		{"before the beginning", "\x00a\x20\x01", "!"},
		{"too long", "\x00a\xe0\xff\x00", "!"},
	} {
		dst := make([]byte, 20)
		n, err := lzf(dst, []byte(c.src))
		if c.want == "!" {
			if err == nil {
				t.Errorf("%s: read %q, expected an error", c.name, dst[:n])
			}
		} else if err != nil || string(dst[:n]) != c.want {
			t.Errorf("%s: read %q, %v, want %q", c.name, dst[:n], err, c.want)
		}
	}
}

// TestFletcher32 has a sum by hand: words 0x0102 and 0x0300, of which the last byte is missing.
func TestFletcher32(t *testing.T) {
	if got := fletcher32([]byte{1, 2, 3}); got != (0x0102+0x0102+0x0300)<<16|0x0102+0x0300 {
		t.Errorf("%#08x", got)
	}
	if _, err := checkFletcher32([]byte{1, 2}); err == nil {
		t.Error("two bytes have a checksum of four")
	}
	// The other byte order of old libraries is taken too.
	if b, err := checkFletcher32([]byte{1, 2, 1, 2, 1, 2}); err != nil || len(b) != 2 {
		t.Errorf("%v, %v", b, err)
	}
}
