// Package admission decides whether memory may be allocated. A Go program that runs out of memory ends without a chance
// to say so, so large requests are compared beforehand with every limit that there is: that of the caller, what the machine has
// free, what the control groups around the process leave, and what the process may map (ulimit).
package admission
