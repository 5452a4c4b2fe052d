package machine

import (
	"crypto/sha256"
	"encoding/hex"
)

// Identity names the kind of processor that this process runs on, in hexadecimal;
// "" if it is not known: two that LLVM would give different names or features to have
// different identities. It takes some microseconds, and is the same for all processors of a machine and in all
// processes, and changes with what the system lets programs use.
func Identity() string {
	data := read()
	if len(data) == 0 {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}
