//go:build lacuna_shared

// Command shared is the whole engine as a shared library, for Python:
//
//	CGO_ENABLED=1 go build -buildmode=c-shared -tags lacuna_shared -o liblacuna.so ./python/shared
//
// It is the only package of the module that uses cgo, which -buildmode=c-shared needs, and is built under its tag alone.
// What it does is in package bridge; here are the functions that C sees. Texts that they return are freed
// by lacuna_free.
package main

/*
#include <stdint.h>
#include <stdlib.h>

typedef void (*lacuna_released)(uint64_t token);

static inline void lacuna_call_released(lacuna_released f, uint64_t token) { f(token); }
*/
import "C"

import (
	"time"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/python/bridge"
)

// engine is the process's.
var engine *bridge.Bridge

// lacuna_open must be the first call. released is called, on any thread, with the token of each array that the engine does
// not refer to any more.
//
//export lacuna_open
func lacuna_open(released C.lacuna_released) {
	engine = bridge.New(func(token uint64) { C.lacuna_call_released(released, C.uint64_t(token)) })
}

// lacuna_start begins to serve a request of n bytes and returns the number of the job.
//
//export lacuna_start
func lacuna_start(request *C.char, n C.int64_t) C.uint64_t {
	return C.uint64_t(engine.Start(C.GoBytes(unsafe.Pointer(request), C.int(n))))
}

// lacuna_wait waits for a job, some milliseconds at most, and returns its answer; NULL if it goes on.
//
//export lacuna_wait
func lacuna_wait(job C.uint64_t, milliseconds C.int64_t) *C.char {
	answer := engine.Wait(uint64(job), time.Duration(milliseconds)*time.Millisecond)
	if answer == nil {
		return nil
	}
	return C.CString(string(answer))
}

// lacuna_cancel ends a job soon; it must still be waited for.
//
//export lacuna_cancel
func lacuna_cancel(job C.uint64_t) { engine.Cancel(uint64(job)) }

// lacuna_release says that the caller is done with a tensor or a kernel.
//
//export lacuna_release
func lacuna_release(handle C.uint64_t) { engine.Release(uint64(handle)) }

// lacuna_close ends all jobs and all calls of released.
//
//export lacuna_close
func lacuna_close() { engine.Close() }

// lacuna_free frees a text.
//
//export lacuna_free
func lacuna_free(text *C.char) { C.free(unsafe.Pointer(text)) }

func main() {}
