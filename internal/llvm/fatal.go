package llvm

import (
	"errors"
	"runtime"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/dl"
)

// fatalErrors turns LLVM's fatal errors into Go errors. When LLVM meets one
// ("Cannot select …", out of memory) it calls the handler installed here and
// would call exit if the handler returned. It must not return, and unwinding
// C++ frames from Go would leave them half done. So the work runs on a
// goroutine locked to its thread, and the handler, which LLVM calls on that
// thread, hands the message to whoever waits for the work and then stops the
// thread for good. What the thread held stays held; therefore the library takes
// no further work.
type fatalErrors struct {
	threadSelf func() uintptr // which thread calls it: pthread_self or the like

	mu      sync.Mutex
	message string // the first fatal error; "" as long as all is well
	waiting map[uintptr]chan<- string
}

// install sets the handler of a library that has just been opened.
func (f *fatalErrors) install(l *LLVM) error {
	self := currentThread()
	if self == 0 {
		return errors.New("the system does not tell threads apart")
	}
	bindFunction(&f.threadSelf, self)
	f.waiting = map[uintptr]chan<- string{}
	l.api.installFatalErrorHandler(newCallback(func(reason uintptr) uintptr {
		message := dl.String(reason)
		f.mu.Lock()
		if f.message == "" {
			f.message = message
		}
		waiter, ok := f.waiting[f.threadSelf()]
		f.mu.Unlock()
		if ok {
			waiter <- message
		}
		select {} // see the type's comment
	}))
	return nil
}

// guard runs work, in which LLVM may meet a fatal error, and returns work's
// error or the fatal one. step is for the message.
func (l *LLVM) guard(step string, work func() error) error {
	l.fatal.mu.Lock()
	broken := l.fatal.message
	l.fatal.mu.Unlock()
	if broken != "" {
		return l.failure(step, "this library met a fatal error before and is no longer used: "+broken)
	}
	done := make(chan error, 1)
	crashed := make(chan string, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		self := l.fatal.threadSelf()
		l.fatal.mu.Lock()
		l.fatal.waiting[self] = crashed
		l.fatal.mu.Unlock()
		defer func() {
			l.fatal.mu.Lock()
			delete(l.fatal.waiting, self)
			l.fatal.mu.Unlock()
		}()
		done <- work()
	}()
	select {
	case err := <-done:
		return err
	case message := <-crashed:
		return l.failure(step, "fatal error: "+message)
	}
}
