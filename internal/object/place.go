package object

import (
	"encoding/binary"
	"fmt"
)

// layout says where everything of a file lies in memory, as offsets from its start:
// sections of code, stubs, then from a new page on sections of constants and the
// table of addresses.
type layout struct {
	file   *file
	offset []uint64       // by section
	stubs  map[int]uint64 // by symbol: code that jumps to a function elsewhere
	table  map[int]uint64 // by symbol: the place that holds its address
	code   uint64         // bytes of code, whole pages
	size   uint64         // of everything, whole pages
}

// place makes the layout.
func (f *file) place(page uint64) (*layout, error) {
	l := &layout{file: f, offset: make([]uint64, len(f.sections)), stubs: map[int]uint64{}, table: map[int]uint64{}}
	end := l.sections(0, true)
	for _, r := range f.relocs {
		need, err := f.machine.need(r.kind)
		if err != nil {
			return nil, f.wrong(r, err)
		}
		if need == needCode && f.symbols[r.symbol].section == 0 {
			if _, ok := l.stubs[r.symbol]; !ok {
				end = align(end, stubAlign)
				l.stubs[r.symbol] = end
				end += uint64(f.machine.stubSize())
			}
			need = needTable // the stub takes it from there
		}
		if need == needTable {
			l.table[r.symbol] = 0 // placed below
		}
	}
	l.code = align(end, page)
	end = l.sections(l.code, false)
	end = align(end, 8)
	for _, r := range f.relocs { // in the order of the file: the same bytes each time
		if at, ok := l.table[r.symbol]; ok && at == 0 {
			l.table[r.symbol] = end
			end += 8
		}
	}
	l.size = align(end, page)
	if l.size == 0 {
		return nil, fmt.Errorf("the object has no code")
	}
	return l, nil
}

// stubAlign is the alignment of a stub.
const stubAlign = 8

// sections places the sections that are code, or those that are not, from an offset
// on, and returns where they end.
func (l *layout) sections(from uint64, code bool) uint64 {
	for i := range l.file.sections {
		if s := &l.file.sections[i]; s.keep && s.code == code {
			from = align(from, s.align)
			l.offset[i] = from
			from += uint64(len(s.data))
		}
	}
	return from
}

func align(n, to uint64) uint64 { return (n + to - 1) &^ (to - 1) }

// write fills memory, which will run at the address base.
func (l *layout) write(memory []byte, base uintptr, resolve Resolve) error {
	f := l.file
	for i := range f.sections {
		if s := &f.sections[i]; s.keep {
			copy(memory[l.offset[i]:], s.data)
		}
	}
	for id, at := range l.table {
		s := &f.symbols[id]
		address, err := l.address(s, base)
		if s.section == 0 && err == nil {
			if address = uint64(resolve(s.name)); address == 0 {
				err = fmt.Errorf("%w: a call of %q, which this process does not have", ErrUnsupported, s.name)
			}
		}
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(memory[at:], address)
	}
	for id, at := range l.stubs {
		if err := f.machine.stub(memory[at:], uint64(base)+at, uint64(base)+l.table[id]); err != nil {
			return err
		}
	}
	for _, r := range f.relocs {
		if err := l.relocate(memory, base, r); err != nil {
			return f.wrong(r, err)
		}
	}
	return nil
}

// address is that of a symbol in memory; 0 for one that is elsewhere.
func (l *layout) address(s *symbol, base uintptr) (uint64, error) {
	switch {
	case s.problem != "":
		return 0, fmt.Errorf("symbol %q %s", s.name, s.problem)
	case s.section == 0:
		return 0, nil
	}
	return uint64(base) + l.offset[s.section] + s.value, nil
}

// relocate writes one address.
func (l *layout) relocate(memory []byte, base uintptr, r reloc) error {
	f := l.file
	s := &f.symbols[r.symbol]
	need, err := f.machine.need(r.kind)
	if err != nil {
		return err
	}
	if need == needNothing {
		return nil
	}
	target, err := l.address(s, base)
	if err != nil {
		return err
	}
	switch {
	case need == needTable:
		target = uint64(base) + l.table[r.symbol]
	case s.section == 0 && need == needCode:
		target = uint64(base) + l.stubs[r.symbol]
	case s.section == 0:
		return fmt.Errorf("%w: the address of %q, which is elsewhere", ErrUnsupported, s.name)
	}
	data := f.sections[r.section].data
	width := uint64(f.machine.width(r.kind))
	if size := uint64(len(data)); r.offset > size || size-r.offset < width {
		return fmt.Errorf("the place is beyond the end of the section, which has %d bytes", size)
	}
	at := l.offset[r.section] + r.offset
	return f.machine.apply(memory[at:at+width], r.kind, uint64(base)+at, target+uint64(r.addend))
}

// wrong adds the place to the error of a relocation.
func (f *file) wrong(r reloc, err error) error {
	return fmt.Errorf("relocation of kind %d at %s+%#x: %w", r.kind, f.sections[r.section].name, r.offset, err)
}
