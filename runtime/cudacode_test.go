//go:build linux && (amd64 || arm64)

package runtime

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
	"github.com/lacuna-sparse/lacuna/internal/diskcache"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
)

// gpuEngine is an engine on a device with a cache, as a new process would have it.
func gpuEngine(t testing.TB, device *cuda.Device, disk *diskcache.Cache) *cudaEngine {
	t.Helper()
	driver, err := cuda.Open()
	if err != nil {
		t.Fatal(err)
	}
	e, err := newCUDAEngine(driver, device, disk)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// keptImages are the images of the only program on disk, and their key.
func keptImages(t testing.TB, disk *diskcache.Cache) (images []gpuImage, key diskcache.Key) {
	t.Helper()
	Flush()
	list := files(t, disk, ondisk.GPUKind)
	if len(list) != 1 {
		t.Fatalf("%d programs on disk, want 1", len(list))
	}
	key = entryKey(t, list[0])
	data, _ := disk.Get(ondisk.GPUKind, key)
	if err := json.Unmarshal(data, &images); err != nil {
		t.Fatal(err)
	}
	return images, key
}

// The second engine finds the machine code on disk and opens no LLVM, in a context and on
// a stream of its own.
func TestKnownGPUKernelNeedsNoLLVM(t *testing.T) {
	device, disk := fakeDevice(t), newDisk(t)
	first := gpuEngine(t, device, disk)
	mustCompile(t, first, filterProgram(t))
	if first.host.Opened.Load() == nil {
		t.Fatal("a program was compiled without LLVM")
	}
	if !filepath.IsAbs(first.host.Path) {
		t.Skip("LLVM is where only the dynamic loader finds it")
	}
	images, _ := keptImages(t, disk)
	for _, image := range images {
		if !bytes.HasPrefix(image.Code, []byte("\x7fELF")) {
			t.Error("what is on disk is not a cubin")
		}
	}
	second := gpuEngine(t, device, disk)
	second.key = " context 0x1234 stream 0x0"
	mustCompile(t, second, filterProgram(t))
	if second.host.Opened.Load() != nil {
		t.Error("LLVM was opened for a program that is on disk")
	}
	if first.Fingerprint() == second.Fingerprint() {
		t.Error("engines in different contexts cannot be told apart")
	}
	mustCompile(t, second, scaleProgram(t))
	if second.host.Opened.Load() == nil {
		t.Error("a program that is not on disk was compiled without LLVM")
	}
}

// Where the driver does not link, PTX is kept: LLVM is not needed again.
func TestPTXIsKeptWithoutLinker(t *testing.T) {
	device, disk := fakeDevice(t, "-DNO_LINKER"), newDisk(t)
	mustCompile(t, gpuEngine(t, device, disk), filterProgram(t))
	images, _ := keptImages(t, disk)
	for _, image := range images {
		if !bytes.Contains(image.Code, []byte(".target")) {
			t.Error("what is on disk is not PTX")
		}
	}
	second := gpuEngine(t, device, disk)
	mustCompile(t, second, filterProgram(t))
	if second.host.Opened.Load() != nil && filepath.IsAbs(second.host.Path) {
		t.Error("LLVM was opened for a program that is on disk")
	}
}

// What is in the place of a program's machine code, but is not, is compiled again and
// replaced.
func TestWrongGPUImagesAreReplaced(t *testing.T) {
	device, disk := fakeDevice(t), newDisk(t)
	mustCompile(t, gpuEngine(t, device, disk), filterProgram(t))
	good, key := keptImages(t, disk)
	encode := func(images ...gpuImage) []byte {
		data, err := json.Marshal(images)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	one := good[0]
	far, short, other := one, one, one
	far.Funcs = []int{1000}
	short.Code = one.Code[:70]
	other.Code = []byte(".target sm_90\n.visible .entry other()")
	for what, data := range map[string][]byte{
		"nothing": nil, "no images": []byte("no images"), "an empty list": encode(), "half a list": encode(good...)[:100],
		"an image of a function that is not there": encode(far), "half an image": encode(short), "another image": encode(other),
		"an image of no functions": encode(gpuImage{nil, one.Code}),
	} {
		if err := disk.Put(ondisk.GPUKind, key, data); err != nil {
			t.Fatal(err)
		}
		mustCompile(t, gpuEngine(t, device, disk), filterProgram(t))
		Flush()
		now, ok := disk.Get(ondisk.GPUKind, key)
		if !ok || !bytes.Equal(now, encode(good...)) {
			t.Errorf("%s was not replaced", what)
		}
	}
}

// Another driver or device is another key.
func TestGPUCodeFingerprint(t *testing.T) {
	e := gpuEngine(t, fakeDevice(t), nil)
	for _, part := range []string{"llvm " + e.host.Version.String(), "sm_90", "driver 12.8"} {
		if !strings.Contains(e.codeFingerprint(), part) {
			t.Errorf("%q does not tell %q", e.codeFingerprint(), part)
		}
	}
}
