package aot

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
)

// Member is a file of a library.
type Member struct {
	Name string
	Data []byte
}

// Archive makes a static library of ELF objects: an ar file in the form that GNU's tools
// write and all linkers of ELF read, with an index of symbols first. Dates and owners are 0, so
// equal members make equal archives.
func Archive(members []Member) ([]byte, error) {
	var names bytes.Buffer // those of more than 15 bytes
	headers := make([]string, len(members))
	for i, m := range members {
		headers[i] = m.Name + "/"
		if len(headers[i]) > 16 {
			headers[i] = fmt.Sprintf("/%d", names.Len())
			names.WriteString(m.Name + "/\n")
		}
	}
	var index bytes.Buffer // names of symbols
	var places []int       // of the member of each
	for i, m := range members {
		symbols, err := definedSymbols(m.Data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		for _, s := range symbols {
			index.WriteString(s + "\x00")
			places = append(places, i)
		}
	}
	const magic = "!<arch>\n"
	even := func(n int) int { return n + n%2 }
	const headerSize = 60
	at := len(magic) + headerSize + even(4+4*len(places)+index.Len())
	if names.Len() > 0 {
		at += headerSize + even(names.Len())
	}
	offsets := make([]int, len(members))
	for i, m := range members {
		offsets[i] = at
		at += headerSize + even(len(m.Data))
	}
	if at > 1<<31 {
		return nil, errors.New("the library would be larger than 2 GiB, the most that its index can tell of")
	}
	var out bytes.Buffer
	out.WriteString(magic)
	table := binary.BigEndian.AppendUint32(nil, uint32(len(places)))
	for _, i := range places {
		table = binary.BigEndian.AppendUint32(table, uint32(offsets[i]))
	}
	writeMember(&out, "/", append(table, index.Bytes()...))
	if names.Len() > 0 {
		writeMember(&out, "//", names.Bytes())
	}
	for i, m := range members {
		writeMember(&out, headers[i], m.Data)
	}
	return out.Bytes(), nil
}

// writeMember writes the header and the contents of a member, and a byte to make them even.
func writeMember(out *bytes.Buffer, name string, data []byte) {
	fmt.Fprintf(out, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", name, 0, 0, 0, "644", len(data))
	out.Write(data)
	if len(data)%2 != 0 {
		out.WriteByte('\n')
	}
}

// definedSymbols lists the symbols that an object file defines for others.
func definedSymbols(object []byte) ([]string, error) {
	f, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		return nil, err
	}
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, err
	}
	var list []string
	for _, s := range symbols {
		if bind := elf.ST_BIND(s.Info); s.Section != elf.SHN_UNDEF && (bind == elf.STB_GLOBAL || bind == elf.STB_WEAK) {
			list = append(list, s.Name)
		}
	}
	return list, nil
}
