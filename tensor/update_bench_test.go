package tensor

import "testing"

// BenchmarkUpdate changes 3 of 5 million ratings: as an overlay, with the arrays made, and by storing all entries again.
func BenchmarkUpdate(b *testing.B) {
	const rows, perRow = 200_000, 25
	indptr, indices := make([]int32, rows+1), make([]int32, 0, rows*perRow)
	for i := range rows {
		for j := range perRow {
			indices = append(indices, int32(j*400+i%400))
		}
		indptr[i+1] = int32(len(indices))
	}
	r, err := NewCSR([]int64{rows, 10_000}, indptr, indices, make([]float64, len(indices)))
	if err != nil {
		b.Fatal(err)
	}
	changes := []Change{Set(5, 17, 17), Set(4, 100_000, 3), Set(3, 199_999, 9_999)}
	update := func(b *testing.B) *Tensor {
		u, err := Update(r, changes...)
		if err != nil {
			b.Fatal(err)
		}
		return u
	}
	b.Run("overlay", func(b *testing.B) {
		for b.Loop() {
			update(b)
		}
	})
	b.Run("chain", func(b *testing.B) {
		u := r
		i := int64(0)
		for b.Loop() {
			if u, err = Update(u, Set(5, i%rows, i*7%10_000)); err != nil {
				b.Fatal(err)
			}
			i++
		}
	})
	b.Run("merged", func(b *testing.B) {
		for b.Loop() {
			if err := update(b).Fetch(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("entries again", func(b *testing.B) {
		for b.Loop() {
			coords, values, err := r.ToCoords()
			if err != nil {
				b.Fatal(err)
			}
			for _, c := range changes {
				coords[0], coords[1] = append(coords[0], c.coord[0]), append(coords[1], c.coord[1])
			}
			if _, err := FromCoords(r.Shape(), CSR, coords, ArrayOf(append(View[float64](values), 5, 4, 3))); err != nil {
				b.Fatal(err)
			}
		}
	})
}
