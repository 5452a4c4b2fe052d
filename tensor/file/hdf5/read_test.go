package hdf5

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// notRead has what h5py reads in the fixtures and this package refuses.
var notRead = map[string]description{
	"/filters7":   {Kind: "refused"}, // scaleoffset
	"/filters7f8": {Kind: "refused"},
	"/odd":        {Kind: "dataset", Dims: []uint64{2}, Type: "unreadable"}, // an integer of 20 bits
}

// TestFixtures reads files that h5py wrote, one for each version of the format, and compares
// everything in them with what h5py reads.
func TestFixtures(t *testing.T) {
	for name, want := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			got := describe(t, open(t, fixture(t, name)))
			for path := range want {
				if d, ok := notRead[path]; ok {
					want[path] = d
				}
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("h5py (-) and we (+) differ:\n%s", diff)
			}
		})
	}
}
