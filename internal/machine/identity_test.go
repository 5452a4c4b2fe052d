package machine

import (
	"runtime"
	"testing"
)

// Every processor of a machine gives the same identity: the goroutines are locked to
// threads, which the system spreads over processors.
func TestIdentityIsThatOfTheMachine(t *testing.T) {
	want := Identity()
	if want == "" && (runtime.GOARCH == "amd64" || runtime.GOOS == "linux") {
		t.Fatal("no identity")
	}
	found := make(chan string)
	const threads = 16
	for range threads {
		go func() {
			runtime.LockOSThread()
			id := ""
			for range 200 {
				if id = Identity(); id != want {
					break
				}
			}
			found <- id
		}()
	}
	for range threads {
		if got := <-found; got != want {
			t.Errorf("identity %s on one processor, %s on another", want, got)
		}
	}
}

func BenchmarkIdentity(b *testing.B) {
	for b.Loop() {
		Identity()
	}
}
