// Package mpi is a group of ranks that are processes, started by mpirun of Open MPI or MPICH. Their library is loaded at
// run time: no cgo, no headers, and a program that was not started by mpirun loads nothing.
//
//	Launched      was this process started by mpirun?             launch.go
//	Open          load the library, join the group                library.go, mpi.go
//	Exchange, …   a call is begun and waited for                  calls.go
//	serve         who calls the library, and when                 serve.go, requests.go
//	listen, beat  how ranks hear of others that failed or left    control.go
//
// # In turns
//
// Goroutines call the library in turns (MPI_THREAD_SERIALIZED), and never make a call that waits: each collective call becomes requests
// (MPI_Isend, MPI_Irecv, MPI_Ialltoall, MPI_Iallreduce) that are asked after with MPI_Testsome, so that a context that ends, a rank that
// fails and one that is lost are noticed whatever else is under way. Who begins or awaits a call asks himself. One goroutine asks while nobody else may, so that
// messages go on while kernels compute and other ranks hear of this one: seldom, as its thread takes the processor from the kernel. A rank's product of a few
// milliseconds had some thirty changes of threads when a thread by itself made all calls, at up to 45 µs each where the machine is virtual.
//
// # Memory
//
// What the library works on in the background is memory that it has allocated itself (MPI_Alloc_mem). Networks with memory
// registration remember the pages of what was sent and watch malloc and munmap in libc for changes: Go's own calls
// to the system pass them by, and so the pages of a Go heap may not be the remembered ones.
//
// A message's length goes before it, and the receive is posted when it is right: Open MPI writes a message that is too long past the
// end of the buffer.
//
// # Failure
//
// Ranks tell each other of failures in messages of their own, on a communicator of their own; each listens to the rank before it, which
// sends a sign of life each second. So a rank that hangs is noticed by the next one; one that dies is noticed by mpirun,
// which ends the others and says so.
package mpi
