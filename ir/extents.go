package ir

import "slices"

// StepExtents returns the extents of the variables of a step, by index ID, and the shape of what it
// computes, from the extents of its statement's indices and the shape that the statement
// assigns: numbers, or what stands for them ahead of time.
func StepExtents[N any](c *Compute, statement, assigned []N) (indices, shape []N) {
	indices, shape = statement, assigned
	if c.Shape != nil {
		shape = nil
		for _, v := range c.Shape {
			shape = append(shape, indices[v.ID])
		}
	}
	if len(c.Axes) > 0 {
		indices = slices.Clone(indices)
		for _, axis := range c.Axes {
			indices = append(indices, shape[axis])
		}
	}
	return indices, shape
}
