// Package emit writes programs of loops: it is what all lowering stands on. A Builder is
// a program under construction, with the buffers and scalars that a caller binds; a Func
// is one function of it, to which buffers and scalars become parameters as they are used.
// Neither knows what is computed.
package emit
