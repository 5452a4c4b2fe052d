package plan

import "testing"

// TestLeftSides: which left sides name the whole result, and which name it in
// increasing order of coordinates.
func TestLeftSides(t *testing.T) {
	for _, test := range []struct {
		text               string
		covers, appendable bool
	}{
		{"R(i,j) = A(i,j)", true, true},
		{"R(j,i) = A(i,j)", true, true},
		{"R(i,i) = x(i)", false, true},
		{"R(1,i) = x(i)", false, true},
		{"R(i+1,0) = x(i)", false, true},
		{"R(2*i,0) = x(i)", false, true},
		{"R(0,9-i) = x(i)", false, false},
		{"R(0,0:2) = x(0:2)", false, true},
		{"R(:,:) = A(:,:)", true, true},
	} {
		nf := mustNormalForm(t, test.text, "A:CSR x:D =R:CSR")
		if got := nf.covers(); got != test.covers {
			t.Errorf("%s covers its result: %t, want %t", test.text, got, test.covers)
		}
		if got := nf.appendable(); got != test.appendable {
			t.Errorf("%s appends: %t, want %t", test.text, got, test.appendable)
		}
	}
}
