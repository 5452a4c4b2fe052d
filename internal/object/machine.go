package object

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// need is what a relocation writes the address of.
type need uint8

const (
	needNothing need = iota
	needSymbol       // the symbol
	needCode         // the symbol, or a stub that jumps there if it is elsewhere
	needTable        // the symbol's place in the table of addresses
)

// machine knows the relocations of an architecture, as its supplement of the ELF
// specification defines them: those of position-independent code in the small code
// model, which is what LLVM makes.
type machine interface {
	arch() elf.Machine
	// need says what a kind of relocation writes the address of.
	need(kind uint32) (need, error)
	// width is the number of bytes that it writes to.
	width(kind uint32) int
	// apply writes to place, which lies at address at, what leads to target.
	apply(place []byte, kind uint32, at, target uint64) error
	stubSize() int
	// stub writes code, which lies at address at, that jumps to the address that is
	// stored at table.
	stub(code []byte, at, table uint64) error
}

// unknown is the error of a kind of relocation that a machine does not know.
func unknown(kind fmt.Stringer) error { return fmt.Errorf("%w: %s", ErrUnsupported, kind) }

// distance is from one address to another, if bits bits hold it.
func distance(from, to uint64, bits uint) (int64, error) {
	d := int64(to - from)
	if limit := int64(1) << (bits - 1); d < -limit || d >= limit {
		return 0, fmt.Errorf("a distance of %d does not fit %d bits", d, bits)
	}
	return d, nil
}

// x86 is the x86-64 architecture (System V ABI, AMD64 supplement, section 4.4).
type x86 struct{}

func (x86) arch() elf.Machine { return elf.EM_X86_64 }

func (x86) need(kind uint32) (need, error) {
	switch k := elf.R_X86_64(kind); k {
	case elf.R_X86_64_NONE:
		return needNothing, nil
	case elf.R_X86_64_64, elf.R_X86_64_PC32, elf.R_X86_64_PC64:
		return needSymbol, nil
	case elf.R_X86_64_PLT32:
		return needCode, nil
	case elf.R_X86_64_GOTPCREL, elf.R_X86_64_GOTPCRELX, elf.R_X86_64_REX_GOTPCRELX:
		return needTable, nil
	default:
		return 0, unknown(k)
	}
}

func (x86) width(kind uint32) int {
	switch elf.R_X86_64(kind) {
	case elf.R_X86_64_64, elf.R_X86_64_PC64:
		return 8
	}
	return 4
}

func (x86) apply(place []byte, kind uint32, at, target uint64) error {
	switch elf.R_X86_64(kind) {
	case elf.R_X86_64_64:
		binary.LittleEndian.PutUint64(place, target)
	case elf.R_X86_64_PC64:
		binary.LittleEndian.PutUint64(place, target-at)
	default:
		d, err := distance(at, target, 32)
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(place, uint32(d))
	}
	return nil
}

func (x86) stubSize() int { return 8 }

func (x86) stub(code []byte, at, table uint64) error {
	const length = 6 // the distance counts from the end of the instruction
	d, err := distance(at+length, table, 32)
	if err != nil {
		return err
	}
	copy(code, []byte{0xff, 0x25, 0, 0, 0, 0, 0xcc, 0xcc}) // jmp *d(%rip); int3; int3
	binary.LittleEndian.PutUint32(code[2:], uint32(d))
	return nil
}

// arm is the 64-bit Arm architecture (ELF for the Arm 64-bit Architecture, 5.7).
type arm struct{}

func (arm) arch() elf.Machine { return elf.EM_AARCH64 }

func (arm) need(kind uint32) (need, error) {
	switch k := elf.R_AARCH64(kind); k {
	case elf.R_AARCH64_NONE, elf.R_AARCH64_NULL:
		return needNothing, nil
	case elf.R_AARCH64_ABS64, elf.R_AARCH64_PREL64, elf.R_AARCH64_PREL32,
		elf.R_AARCH64_ADR_PREL_LO21, elf.R_AARCH64_ADR_PREL_PG_HI21, elf.R_AARCH64_ADD_ABS_LO12_NC,
		elf.R_AARCH64_LDST8_ABS_LO12_NC, elf.R_AARCH64_LDST16_ABS_LO12_NC, elf.R_AARCH64_LDST32_ABS_LO12_NC,
		elf.R_AARCH64_LDST64_ABS_LO12_NC, elf.R_AARCH64_LDST128_ABS_LO12_NC:
		return needSymbol, nil
	case elf.R_AARCH64_CALL26, elf.R_AARCH64_JUMP26:
		return needCode, nil
	case elf.R_AARCH64_ADR_GOT_PAGE, elf.R_AARCH64_LD64_GOT_LO12_NC:
		return needTable, nil
	default:
		return 0, unknown(k)
	}
}

func (arm) width(kind uint32) int {
	switch elf.R_AARCH64(kind) {
	case elf.R_AARCH64_ABS64, elf.R_AARCH64_PREL64:
		return 8
	}
	return 4
}

// scales gives for the relocations of a load or store how far the offset within a
// page is shifted: it counts elements of the size that the instruction moves.
var scales = map[elf.R_AARCH64]uint{
	elf.R_AARCH64_ADD_ABS_LO12_NC:     0,
	elf.R_AARCH64_LDST8_ABS_LO12_NC:   0,
	elf.R_AARCH64_LDST16_ABS_LO12_NC:  1,
	elf.R_AARCH64_LDST32_ABS_LO12_NC:  2,
	elf.R_AARCH64_LDST64_ABS_LO12_NC:  3,
	elf.R_AARCH64_LDST128_ABS_LO12_NC: 4,
	elf.R_AARCH64_LD64_GOT_LO12_NC:    3,
}

func (arm) apply(place []byte, kind uint32, at, target uint64) error {
	switch k := elf.R_AARCH64(kind); k {
	case elf.R_AARCH64_ABS64:
		binary.LittleEndian.PutUint64(place, target)
		return nil
	case elf.R_AARCH64_PREL64:
		binary.LittleEndian.PutUint64(place, target-at)
		return nil
	case elf.R_AARCH64_PREL32:
		d, err := distance(at, target, 32)
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(place, uint32(d))
		return nil
	case elf.R_AARCH64_CALL26, elf.R_AARCH64_JUMP26:
		d, err := distance(at, target, 28)
		switch {
		case err != nil:
			return err
		case d&3 != 0:
			return fmt.Errorf("a jump to an address that is no multiple of 4")
		}
		patch(place, uint32(d>>2)&(1<<26-1), 1<<26-1)
		return nil
	case elf.R_AARCH64_ADR_PREL_LO21:
		d, err := distance(at, target, 21)
		if err != nil {
			return err
		}
		patch(place, adr(d), adr(-1))
		return nil
	case elf.R_AARCH64_ADR_PREL_PG_HI21, elf.R_AARCH64_ADR_GOT_PAGE:
		d, err := pages(at, target)
		if err != nil {
			return err
		}
		patch(place, adr(d), adr(-1))
		return nil
	default:
		scale := scales[k]
		low := uint32(target & 0xfff)
		if low&(1<<scale-1) != 0 {
			return fmt.Errorf("an address that is no multiple of %d", 1<<scale)
		}
		patch(place, low>>scale<<10, 0xfff<<10)
		return nil
	}
}

// patch puts bits into an instruction in the place of those of a mask.
func patch(place []byte, bits, mask uint32) {
	word := binary.LittleEndian.Uint32(place)
	binary.LittleEndian.PutUint32(place, word&^mask|bits)
}

// adr is where an ADR or ADRP instruction has its 21 bits.
func adr(d int64) uint32 {
	return uint32(d)&3<<29 | uint32(d>>2)&(1<<19-1)<<5
}

// pages is the distance between the 4 KiB pages of two addresses, as ADRP has it.
func pages(from, to uint64) (int64, error) {
	d, err := distance(from&^0xfff, to&^0xfff, 33)
	return d >> 12, err
}

func (arm) stubSize() int { return 16 }

func (arm) stub(code []byte, at, table uint64) error {
	const (
		adrpX16 = 0x90000010 // adrp x16, page
		ldrX16  = 0xf9400210 // ldr x16, [x16, offset]
		brX16   = 0xd61f0200 // br x16
		trap    = 0xd4200000 // brk 0
	)
	d, err := pages(at, table)
	if err != nil {
		return err
	}
	for i, word := range []uint32{adrpX16 | adr(d), ldrX16 | uint32(table&0xfff)>>3<<10, brX16, trap} {
		binary.LittleEndian.PutUint32(code[4*i:], word)
	}
	return nil
}
