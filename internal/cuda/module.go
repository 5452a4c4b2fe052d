package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/dl"
)

// Module is code on a device.
type Module struct{ r *resource }

// jitLog takes what the driver's compiler says about an image. It is one piece,
// so that handing the driver the addresses of its options keeps all of it in
// place.
type jitLog struct {
	options [3]uint32
	values  [3]uintptr
	text    [16 << 10]byte
}

// newJITLog makes a log for a compilation of the given level.
func newJITLog(level uintptr) *jitLog {
	l := &jitLog{options: [3]uint32{jitErrorLogBuffer, jitErrorLogBufferSize, jitOptimizationLevel}}
	l.values = [3]uintptr{uintptr(unsafe.Pointer(&l.text)), uintptr(len(l.text) - 1), level}
	return l
}

// Levels of optimisation of the driver's compiler: from 0 to 4, which is its default.
const (
	quickLevel = 1
	fullLevel  = 4
)

// String is what the compiler said.
func (l *jitLog) String() string {
	text, _, _ := bytes.Cut(l.text[:], []byte{0})
	return string(text)
}

// Load loads an image, PTX or a cubin, onto the device. PTX is compiled by the
// driver, which takes milliseconds and more; its compiler's log is in the error.
func (d *Device) Load(image []byte) (*Module, error) {
	image, err := checkImage(image)
	if err != nil {
		return nil, err
	}
	f, err := d.r.enter()
	if err != nil {
		return nil, err
	}
	defer f.leave()
	log := newJITLog(fullLevel)
	defer runtime.KeepAlive(log)
	f.clear()
	api := &f.ctx.driver.api
	err = f.callWithMemory(&api.moduleLoadDataEx, f.address(0), uintptr(unsafe.Pointer(&image[0])),
		uintptr(len(log.options)), uintptr(unsafe.Pointer(&log.options)), uintptr(unsafe.Pointer(&log.values)))
	if isOutOfMemory(err) {
		return nil, f.outOfMemory(err, uint64(len(image)))
	}
	if err != nil {
		return nil, withLog(err, log.String())
	}
	r := newResource(f.ctx, uintptr(f.out[0]), &api.moduleUnload)
	return closeWhenForgotten(&Module{r}, r), nil
}

// Cubin compiles PTX for the device to a cubin, which Load takes, in this
// process or in a later one with a device of the same architecture. The
// compiler's log is in the error.
func (d *Device) Cubin(ptx []byte) ([]byte, error) { return d.cubin(ptx, fullLevel) }

// QuickCubin is Cubin with little optimisation, which takes about two thirds of the time. The code
// computes the same.
func (d *Device) QuickCubin(ptx []byte) ([]byte, error) { return d.cubin(ptx, quickLevel) }

func (d *Device) cubin(ptx []byte, level uintptr) ([]byte, error) {
	ptx, err := checkPTX(ptx)
	if err != nil {
		return nil, err
	}
	f, err := d.r.enter()
	if err != nil {
		return nil, err
	}
	defer f.leave()
	log := newJITLog(level)
	defer runtime.KeepAlive(log)
	f.clear()
	api := &f.ctx.driver.api
	if err := f.callWithMemory(&api.linkCreate, uintptr(len(log.options)), uintptr(unsafe.Pointer(&log.options)),
		uintptr(unsafe.Pointer(&log.values)), f.address(0)); err != nil {
		return nil, withLog(err, log.String())
	}
	link := uintptr(f.out[0])
	defer func() { _ = f.call(&api.linkDestroy, link) }()
	name := []byte("lacuna.ptx\x00")
	if err := f.callWithMemory(&api.linkAddData, link, jitInputPTX, uintptr(unsafe.Pointer(&ptx[0])), uintptr(len(ptx)),
		uintptr(unsafe.Pointer(&name[0])), 0, 0, 0); err != nil {
		return nil, withLog(err, log.String())
	}
	f.clear()
	if err := f.call(&api.linkComplete, link, f.address(0), f.address(1)); err != nil {
		return nil, withLog(err, log.String())
	}
	cubin := unsafe.Slice((*byte)(dl.Pointer(uintptr(f.out[0]))), int(f.out[1]))
	return slices.Clone(cubin), nil // the driver's copy goes with the link state
}

// elfMagic starts ELF files, cubins among them.
const elfMagic = "\x7fELF"

// checkImage makes sure that the driver, which is not told an image's size, will
// not read beyond its end. PTX comes back with the zero byte that ends it.
func checkImage(image []byte) ([]byte, error) {
	if bytes.HasPrefix(image, []byte(elfMagic)) {
		return image, checkCubin(image)
	}
	return checkPTX(image)
}

// checkPTX is checkImage for PTX.
func checkPTX(image []byte) ([]byte, error) {
	image = bytes.TrimRight(image, "\x00")
	if !bytes.Contains(image, []byte(".target")) || bytes.IndexByte(image, 0) >= 0 {
		return nil, errors.New("the image is neither PTX nor a cubin: PTX is text with a .target directive, a cubin is an ELF file")
	}
	return append(image[:len(image):len(image)], 0), nil
}

// checkCubin makes sure that all parts of a cubin lie within it. It is an ELF
// file of 64 bits, little-endian, but for a version number of NVIDIA's own, which
// debug/elf does not accept.
func checkCubin(image []byte) error {
	const headerSize, class64, littleEndian = 64, 2, 1
	if len(image) < headerSize || image[4] != class64 || image[5] != littleEndian {
		return errors.New("the cubin is damaged: it has no ELF header of 64 bits, little-endian")
	}
	half := func(at int) uint64 { return uint64(binary.LittleEndian.Uint16(image[at:])) }
	for _, table := range []struct {
		name               string
		offset             int // of the fields of the header: where the table is,
		entrySize, entries int // how large its entries are, and how many
		minSize            uint64
		partOffset, size   uint64 // of the fields of an entry
	}{
		{"segment", 32, 54, 56, 56, 8, 32},
		{"section", 40, 58, 60, 64, 24, 32},
	} {
		start, entrySize, entries := binary.LittleEndian.Uint64(image[table.offset:]), half(table.entrySize), half(table.entries)
		if entries == 0 && start == 0 {
			continue
		}
		// No entries in a table that there is would mean more than fit the field.
		if entries == 0 || entrySize < table.minSize || !within(image, start, entrySize*entries) {
			return fmt.Errorf("the cubin is damaged or cut short: its table of %d %ss of %d bytes at byte %d is not within its %d bytes",
				entries, table.name, entrySize, start, len(image))
		}
		for i := range entries {
			entry := image[start+i*entrySize:]
			const noBits = 8 // a section that takes no place in the file
			if table.name == "section" && binary.LittleEndian.Uint32(entry[4:]) == noBits {
				continue
			}
			offset, size := binary.LittleEndian.Uint64(entry[table.partOffset:]), binary.LittleEndian.Uint64(entry[table.size:])
			if !within(image, offset, size) {
				return fmt.Errorf("the cubin is damaged or cut short: %s %d, of %d bytes at byte %d, is not within its %d bytes",
					table.name, i, size, offset, len(image))
			}
		}
	}
	return nil
}

// within reports whether image has size bytes from start on.
func within(image []byte, start, size uint64) bool {
	return start <= uint64(len(image)) && size <= uint64(len(image))-start
}

// Close unloads the module. Functions of it return ErrClosed from then on.
func (m *Module) Close() error { return m.r.close() }

// Function is a kernel in a module.
type Function struct {
	module *Module
	name   string
	handle uintptr
	info   FunctionInfo
}

// FunctionInfo tells what a kernel needs.
type FunctionInfo struct {
	MaxThreads   int // in a block
	Registers    int // of each thread
	Shared       int // bytes of a block, apart from dynamic shared memory
	Local        int // bytes of a thread, mostly spilled registers
	DynamicLimit int // bytes of dynamic shared memory that a launch may ask for
}

// Function finds a kernel by its name.
func (m *Module) Function(name string) (*Function, error) {
	f, err := m.r.enter()
	if err != nil {
		return nil, err
	}
	defer f.leave()
	f.clear()
	text := append([]byte(name), 0)
	api := &f.ctx.driver.api
	if err := f.callWithMemory(&api.moduleGetFunction, f.address(0), m.r.handle, uintptr(unsafe.Pointer(&text[0]))); err != nil {
		if e, ok := errors.AsType[*Error](err); ok && e.Code == CodeNotFound {
			e.Detail = fmt.Sprintf("the module has no kernel %q", name)
		}
		return nil, err
	}
	k := &Function{module: m, name: name, handle: uintptr(f.out[0])}
	for _, a := range []struct {
		number uintptr
		into   *int
	}{
		{funcMaxThreadsPerBlock, &k.info.MaxThreads},
		{funcNumRegs, &k.info.Registers},
		{funcSharedSizeBytes, &k.info.Shared},
		{funcLocalSizeBytes, &k.info.Local},
		{funcMaxDynamicShared, &k.info.DynamicLimit},
	} {
		f.clear()
		if err := f.call(&api.funcGetAttribute, f.address(0), a.number, k.handle); err != nil {
			return nil, err
		}
		*a.into = int(int32(f.out[0]))
	}
	return k, nil
}

// Name is the kernel's name.
func (k *Function) Name() string { return k.name }

// Info tells what the kernel needs, as it was when Function found it.
func (k *Function) Info() FunctionInfo { return k.info }
