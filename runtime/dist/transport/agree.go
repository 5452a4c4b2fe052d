package transport

import (
	"bytes"
	"context"
	"fmt"
)

// Fact is something that all ranks must have in common, such as the text of a program. What is long is told by its hash.
type Fact struct {
	Name, Value string
}

// Agree compares facts with those of the other ranks, who call it too, and aborts the group where they are not the same.
// The error, which is the same on every rank, names the first rank that differs from rank 0, and in what.
func Agree(ctx context.Context, t Transport, facts []Fact) error {
	var text bytes.Buffer
	for _, f := range facts {
		fmt.Fprintf(&text, "%d %d %s%s", len(f.Name), len(f.Value), f.Name, f.Value)
	}
	out := make([][]byte, t.Size())
	for r := range out {
		out[r] = text.Bytes()
	}
	in, err := t.Exchange(ctx, out)
	if err != nil {
		return err
	}
	for r, theirs := range in {
		if bytes.Equal(theirs, in[0]) {
			continue
		}
		e := &Error{r, difference(parseFacts(in[0]), parseFacts(theirs))}
		if r == t.Rank() { // who is the one to be named where others have not read so far
			t.Abort(e.Reason)
		}
		return e
	}
	return nil
}

func parseFacts(text []byte) (facts []Fact) {
	r := bytes.NewReader(text)
	for {
		var name, value int
		if n, _ := fmt.Fscanf(r, "%d %d ", &name, &value); n != 2 || name < 0 || value < 0 || name > r.Len() || value > r.Len()-name {
			return facts
		}
		b := make([]byte, name+value)
		r.Read(b)
		facts = append(facts, Fact{string(b[:name]), string(b[name:])})
	}
}

// difference tells the first of their facts that is not in ours, or the other way round.
func difference(ours, theirs []Fact) string {
	for i := range max(len(ours), len(theirs)) {
		switch {
		case i >= len(theirs) || i < len(ours) && ours[i].Name != theirs[i].Name:
			return fmt.Sprintf("it has no %s, which rank 0 has", ours[i].Name)
		case i >= len(ours):
			return fmt.Sprintf("it has a %s, which rank 0 has not", theirs[i].Name)
		case ours[i].Value != theirs[i].Value:
			return fmt.Sprintf("its %s is %s, and that of rank 0 %s", ours[i].Name, theirs[i].Value, ours[i].Value)
		}
	}
	return "it speaks another language than rank 0"
}
