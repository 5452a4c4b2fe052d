package tensor

// Relaxed reports whether the format has a flag of a level.
func (f Format) Relaxed() bool { return false }

// standard is the tensor in the standard format.
func (t *Tensor) standard() (*Tensor, error) { return t, nil }

// Standard is the format without flags.
func (f Format) Standard() Format { return f }
