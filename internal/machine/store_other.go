//go:build !amd64

package machine

// CopyPast copies as copy does; processors of other kinds have no such stores that Go can be told of.
func CopyPast(to, from []byte) { copy(to[:len(from)], from) }
