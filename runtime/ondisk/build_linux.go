package ondisk

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"regexp"
	godebug "runtime/debug"
	"sync"
)

// ExecutableID tells the executables that this process may be running apart, down
// to every byte that matters; "" if it is not known. The go command leaves a hash of
// everything that went into an executable in it. One that was linked with an
// identity of someone else's making, or none, is hashed as it is.
//
// Only an executable will do: in a library loaded into another program the
// program says nothing about us. And only where the file that runs can be
// found for certain.
var ExecutableID = sync.OnceValue(func() string {
	info, ok := godebug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "-buildmode" && s.Value != "exe" && s.Value != "pie" {
			return ""
		}
	}
	f, err := os.Open("/proc/self/exe") // the file itself, even if another has taken its name
	if err != nil {
		return ""
	}
	defer f.Close()
	if id := goBuildID(f); id != "" {
		return id
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
})

// buildIDs are what the go command writes: hashes of inputs and outputs.
var buildIDs = regexp.MustCompile(`^[A-Za-z0-9_-]{20}(/[A-Za-z0-9_-]{20}){3}$`)

// goBuildID reads the identity that the go command leaves in executables; "" if
// there is none of its making.
func goBuildID(r io.ReaderAt) string {
	f, err := elf.NewFile(r)
	if err != nil {
		return ""
	}
	s := f.Section(".note.go.buildid")
	if s == nil {
		return ""
	}
	note, err := s.Data()
	if err != nil || len(note) < 16 {
		return ""
	}
	// Lengths of name and text and a type, four bytes each, then those two.
	name, length := binary.LittleEndian.Uint32(note), binary.LittleEndian.Uint32(note[4:])
	if name != 4 || !bytes.HasPrefix(note[12:], []byte("Go\x00\x00")) || uint64(length) > uint64(len(note)-16) {
		return ""
	}
	if id := string(note[16 : 16+length]); buildIDs.MatchString(id) {
		return id
	}
	return ""
}
