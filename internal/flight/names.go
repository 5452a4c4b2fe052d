package flight

import "fmt"

// Pointers names things that stay where they are.
func Pointers[T any](list []*T) string {
	var b []byte
	for _, p := range list {
		b = fmt.Appendf(b, "%p ", p)
	}
	return string(b)
}
