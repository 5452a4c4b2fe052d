package aot

import (
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// maxChunks is package runtime's: results are the same bits only if domains are cut
// alike.
const maxChunks = 1 << 16

// cutSource finds the next chunk of a domain that is cut by weight, as package
// runtime does. The load of elements 0 … i-1 is w[i]-w[0]+i; a boundary is the first i
// whose load is at least k*step. The buffer s holds what goes on from chunk to chunk: the
// k to look for next, where the last chunk ended, and its length; then, as the result,
// where this chunk begins and ends. A boundary inside an element that is
// heavier than a chunk makes none.
const cutSource = `
func cut(readonly w: []TYPE, s: []i64; n: i64, step: i64, chunks: i64) chunk chunk, lo, hi {
  let first: i64 = i64(w[0])
  let begin: i64 = s[1]
  var k: i64 = s[0]
  var length: i64 = s[2]
  var end: i64 = n
  var found: bool = false
  while k < chunks & !found {
    let target: i64 = k * step
    let guess: i64 = min(begin + length, n - 1)
    var low: i64 = begin
    var high: i64 = n
    var stride: i64 = 1
    if i64(w[guess]) - first + guess >= target {
      high = guess
      var more: bool = low < high
      while more {
        let probe: i64 = max(high - stride, low)
        if i64(w[probe]) - first + probe >= target {
          high = probe
          stride = stride * 2
          more = low < high
        } else {
          low = probe + 1
          more = false
        }
      }
    } else {
      low = guess + 1
      var more: bool = low < high
      while more {
        let probe: i64 = min(low + stride, high) - 1
        if i64(w[probe]) - first + probe >= target {
          high = probe
          more = false
        } else {
          low = probe + 1
          stride = stride * 2
          more = low < high
        }
      }
    }
    while low < high {
      let mid: i64 = low + (high - low) / 2
      if i64(w[mid]) - first + mid >= target {
        high = mid
      } else {
        low = mid + 1
      }
    }
    k = k + 1
    if low > begin & low < n {
      end = low
      found = true
    }
  }
  s[0] = k
  s[1] = end
  s[2] = end - begin
  s[3] = begin
  s[4] = end
}
`

// The words of cut's buffer s.
const (
	iterNext, iterAt, iterLength, iterLo, iterHi, iterWords = 0, 1, 2, 3, 4, 5
)

// cutFunc is the function for weights of a type.
func cutFunc(name string, elem loop.Type) *loop.Func {
	f, err := loop.ParseFunc(strings.ReplaceAll(cutSource, "TYPE", elem.String()))
	if err != nil {
		panic(fmt.Sprintf("BUG: cut: %v", err))
	}
	f.Name = name
	return f
}
