package file

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor/file/hdf5"
)

// TestUnreadFilterIsNamed reads a file whose only dataset went through a filter that is not read.
func TestUnreadFilterIsNamed(t *testing.T) {
	var b hdf5.Buffer
	w := hdf5.Create(&b)
	data := make([]byte, 8*64)
	if err := w.Dataset("x", hdf5.Type{Class: hdf5.Float, Size: 8}, []uint64{64}, data, hdf5.Options{Deflate: 1}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	deflate, szip := []byte{2, 1, 1, 0}, []byte{2, 1, 4, 0} // filter pipelines of version 2 with one filter
	if n := bytes.Count(b.Bytes(), deflate); n != 1 {
		t.Fatalf("%d pipelines", n)
	}
	file := bytes.Replace(b.Bytes(), deflate, szip, 1)
	_, err := ReadFrom("x.h5", bytes.NewReader(file))
	// The header's checksum is wrong now: the error tells what it has to be.
	var stored, computed uint32
	_, sums, _ := strings.Cut(err.Error(), "wrong: ")
	if _, err := fmt.Sscanf(sums, "stored %v, computed %v", &stored, &computed); err != nil {
		t.Fatal(sums, err)
	}
	le := binary.LittleEndian
	file = bytes.Replace(file, le.AppendUint32(nil, stored), le.AppendUint32(nil, computed), 1)
	_, err = ReadFrom("x.h5", bytes.NewReader(file))
	if err == nil || !strings.Contains(err.Error(), "/x: the chunks went through the filter szip (4), which is not read") {
		t.Error(err)
	}
}
