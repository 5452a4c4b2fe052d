package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// file is an object that has been read. Indices of sections and symbols in it are
// in range.
type file struct {
	machine  machine
	sections []section
	symbols  []symbol // as the file numbers them: the first is no symbol
	relocs   []reloc
}

// section is a section of the file; those that do not go into memory have no data.
type section struct {
	name  string
	code  bool
	align uint64
	data  []byte
	keep  bool // goes into memory
}

// symbol is a name for a place in a section, or for a function elsewhere.
type symbol struct {
	name     string
	section  int // 0: elsewhere
	value    uint64
	function bool // that others may call
	problem  string
}

// reloc is a place in a section that an address is to be written to.
type reloc struct {
	section int
	offset  uint64
	kind    uint32
	symbol  int
	addend  int64
}

// maxAlign is the largest alignment of a section: that of a cache line and of the
// widest vector, twice. It bounds what an object can take beyond its own size.
const maxAlign = 128

// maxObject bounds the size of objects, well below what 32-bit distances reach.
const maxObject = 256 << 20

// parse reads an object for a machine.
func parse(object []byte, m machine) (*file, error) {
	if len(object) > maxObject {
		return nil, fmt.Errorf("%w: an object of %d bytes", ErrUnsupported, len(object))
	}
	e, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		return nil, fmt.Errorf("no ELF object: %w", err)
	}
	if e.Class != elf.ELFCLASS64 || e.Data != elf.ELFDATA2LSB || e.Type != elf.ET_REL || e.Machine != m.arch() {
		return nil, fmt.Errorf("%w: an ELF file that is %s %s %s %s, want a relocatable object for %s",
			ErrUnsupported, e.Class, e.Data, e.Type, e.Machine, m.arch())
	}
	f := &file{machine: m}
	for i, s := range e.Sections {
		kept, err := readSection(s)
		if err != nil {
			return nil, fmt.Errorf("section %d (%s): %w", i, s.Name, err)
		}
		f.sections = append(f.sections, kept)
	}
	if err := f.readSymbols(e); err != nil {
		return nil, err
	}
	for i, s := range e.Sections {
		if err := f.readRelocs(s); err != nil {
			return nil, fmt.Errorf("section %d (%s): %w", i, s.Name, err)
		}
	}
	return f, nil
}

// readSection takes from a section what goes into memory. Tables by which frames
// are unwound do not: nothing unwinds kernels.
func readSection(s *elf.Section) (section, error) {
	out := section{name: s.Name, align: max(s.Addralign, 1)}
	const unwind = elf.SectionType(0x70000001) // SHT_X86_64_UNWIND
	if s.Flags&elf.SHF_ALLOC == 0 || s.Size == 0 || s.Type == unwind || s.Name == ".eh_frame" {
		return out, nil
	}
	constant := s.Name == ".data.rel.ro" || strings.HasPrefix(s.Name, ".data.rel.ro.")
	switch {
	case s.Type != elf.SHT_PROGBITS, s.Flags&(elf.SHF_TLS|elf.SHF_COMPRESSED) != 0,
		s.Flags&elf.SHF_WRITE != 0 && !constant:
		return out, fmt.Errorf("%w: contents of type %s with flags %s", ErrUnsupported, s.Type, s.Flags)
	case out.align > maxAlign || out.align&(out.align-1) != 0:
		return out, fmt.Errorf("%w: an alignment of %d", ErrUnsupported, out.align)
	}
	data, err := s.Data()
	if err != nil {
		return out, err
	}
	out.data, out.keep, out.code = data, true, s.Flags&elf.SHF_EXECINSTR != 0
	return out, nil
}

// readSymbols reads the table of symbols.
func (f *file) readSymbols(e *elf.File) error {
	f.symbols = []symbol{{problem: "is none"}}
	table, err := e.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return fmt.Errorf("reading symbols: %w", err)
	}
	for _, s := range table {
		out := symbol{name: s.Name, value: s.Value}
		binding := elf.ST_BIND(s.Info)
		switch {
		case s.Section == elf.SHN_UNDEF:
		case s.Section >= elf.SHN_LORESERVE || int(s.Section) >= len(f.sections):
			out.problem = fmt.Sprintf("is in section %s", s.Section)
		case !f.sections[s.Section].keep:
			out.problem = fmt.Sprintf("is in section %s, which is not loaded", f.sections[s.Section].name)
		case s.Value > uint64(len(f.sections[s.Section].data)):
			out.problem = fmt.Sprintf("is beyond the end of section %s", f.sections[s.Section].name)
		default:
			out.section = int(s.Section)
			out.function = elf.ST_TYPE(s.Info) == elf.STT_FUNC && binding != elf.STB_LOCAL && f.sections[s.Section].code &&
				s.Value < uint64(len(f.sections[s.Section].data))
		}
		f.symbols = append(f.symbols, out)
	}
	return nil
}

// readRelocs reads a section of relocations, if it is one of a section that goes
// into memory.
func (f *file) readRelocs(s *elf.Section) error {
	if s.Type == elf.SHT_REL {
		return fmt.Errorf("%w: relocations without addends", ErrUnsupported)
	}
	if s.Type != elf.SHT_RELA {
		return nil
	}
	if int64(s.Info) >= int64(len(f.sections)) {
		return fmt.Errorf("relocations of section %d, of which there are %d", s.Info, len(f.sections))
	}
	target := int(s.Info)
	if !f.sections[target].keep {
		return nil
	}
	data, err := s.Data()
	if err != nil {
		return err
	}
	const entry = 24 // of an Elf64_Rela
	if len(data)%entry != 0 {
		return fmt.Errorf("%d bytes of relocations, want a multiple of %d", len(data), entry)
	}
	for ; len(data) > 0; data = data[entry:] {
		info := binary.LittleEndian.Uint64(data[8:])
		r := reloc{
			section: target,
			offset:  binary.LittleEndian.Uint64(data),
			kind:    uint32(info),
			symbol:  int(info >> 32),
			addend:  int64(binary.LittleEndian.Uint64(data[16:])),
		}
		if r.symbol >= len(f.symbols) {
			return fmt.Errorf("a relocation of symbol %d, of which there are %d", r.symbol, len(f.symbols))
		}
		f.relocs = append(f.relocs, r)
	}
	return nil
}

// functions lists the symbols that others may call.
func (f *file) functions() []symbol {
	var list []symbol
	for _, s := range f.symbols {
		if s.function {
			list = append(list, s)
		}
	}
	return list
}
