package machine

import (
	"bytes"
	"testing"
)

func TestCopyPast(t *testing.T) {
	from, memory := make([]byte, 512), make([]byte, 1024)
	for i := range from {
		from[i] = byte(i*7 + i/256 + 1)
	}
	for start := range 80 { // wherever the first line begins
		for _, n := range []int{0, 1, 63, 64, 65, 127, 128, 200, 400} {
			for i := range memory {
				memory[i] = 0xEE
			}
			want := bytes.Clone(memory)
			copy(want[100+start:], from[start:start+n])
			CopyPast(memory[100+start:], from[start:start+n])
			if !bytes.Equal(memory, want) {
				t.Fatalf("%d bytes to %d: not what copy does", n, start)
			}
		}
	}
}
