package file

import (
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"
)

// mapBytes maps a regular file into memory, to be read only. release undoes it.
func mapBytes(f *os.File) (bytes []byte, release func(), err error) {
	st, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	switch {
	case !st.Mode().IsRegular():
		return nil, nil, errors.New("it is not a regular file")
	case st.Size() == 0:
		return nil, nil, errors.New("the file is empty")
	case st.Size() > math.MaxInt:
		return nil, nil, errors.New("the file is larger than the address space")
	}
	bytes, err = syscall.Mmap(int(f.Fd()), 0, int(st.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("the system does not map it: %w", err)
	}
	return bytes, func() { syscall.Munmap(bytes) }, nil // it can only fail for a wrong address
}
