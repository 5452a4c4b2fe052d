package operand

import "testing"

// TestReadingIsCopied: how a file is read is written as it was, and as Go.
func TestReadingIsCopied(t *testing.T) {
	for _, c := range []struct{ text, words, inGo string }{
		{"CSR[f32]", "", `must(file.Read("a", file.FormatNamed("CSR"), file.As(must(tensor.ParseDType("f32")))))`},
		{"entry=obs/kind", ":entry=obs/kind", `must(file.Read("a", file.Entry("obs/kind")))`},
		{"entry=w:nodes=from,to:D", ":entry=w:nodes=from,to", `must(file.Read("a", file.FormatNamed("D"), file.Entry("w"), file.Nodes("from", "to")))`},
		{"coords=u,v:base=1", ":coords=u,v:base=1", `must(file.Read("a", file.Coords("u", "v"), file.IndexBase(1)))`},
		{"dims=4,5:kind=tns", ":kind=tns:dims=4,5", `must(file.Read("a", file.OfKind("tns"), file.Dims(4, 5)))`},
		{"stored=mmcsf", ":stored=mmcsf", `must(tensor.MMCSF(must(file.Read("a"))))`},
		{"stored=symmetric_lower", ":stored=symmetric_lower", `must(must(file.Read("a")).Triangle(must(tensor.ParseStructure("symmetric_lower"))))`},
	} {
		q, err := ParseQualifiers(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := q.words(); got != c.words {
			t.Errorf("%s: the words are %q, want %q", c.text, got, c.words)
		}
		if got := q.goRead("a", nil); got != c.inGo {
			t.Errorf("%s: in Go it is %s, want %s", c.text, got, c.inGo)
		}
	}
}
