// Command mtxgen writes a large Matrix Market file for benchmarks of readers.
//
//	mtxgen -bytes 1073741824 -order rows -o big.mtx
//
// The matrix is square, of a million rows with equally many entries each and no
// duplicates; its entries are listed by rows, by columns or in no order. The same flags
// give the same file.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"os"
	"strconv"
)

// side is the number of rows and of columns.
const side = 1_000_000

func main() {
	log.SetFlags(0)
	bytes := flag.Int64("bytes", 1<<30, "size of the file, about")
	order := flag.String("order", "rows", "order of the entries: rows, columns or random")
	digits := flag.Int("digits", -1, "significant digits of the values; -1: as many as a float64 needs")
	path := flag.String("o", "", "the file to write")
	flag.Parse()
	if err := generate(*path, *bytes, *order, *digits); err != nil {
		log.Fatal("mtxgen: ", err)
	}
}

// generate writes the file.
func generate(path string, bytes int64, order string, digits int) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	perRow := max(1, min(bytes/int64(len(appendEntry(nil, side/2, side/2, 1, digits)))/side, side))
	n := uint64(perRow * side)
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprintf(w, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", side, side, n)
	var line []byte
	for k := range n {
		at := k
		if order == "random" {
			at = shuffled(k, n)
		}
		gap := uint64(side / perRow)
		i, j := at/uint64(perRow), at%uint64(perRow)*gap+scramble(at)%gap
		switch order {
		case "rows", "random":
		case "columns":
			i, j = j, i
		default:
			return fmt.Errorf("-order %s: expected rows, columns or random", order)
		}
		line = appendEntry(line[:0], i+1, j+1, scramble(^at), digits)
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return w.Flush()
}

// appendEntry appends a line with a value between -1 and 1 made of bits.
func appendEntry(dst []byte, i, j, bits uint64, digits int) []byte {
	dst = append(strconv.AppendUint(dst, i, 10), ' ')
	dst = append(strconv.AppendUint(dst, j, 10), ' ')
	value := float64(int64(scramble(bits))>>10) / (1 << 53)
	return append(strconv.AppendFloat(dst, value, 'g', digits, 64), '\n')
}

// shuffled is element k of a permutation of 0 to n-1, n a multiple of a million: a
// multiplication by a number that shares no factor with n.
func shuffled(k, n uint64) uint64 {
	step := n/1_618_034*1_000_000 + 1
	for !coprime(step, n) {
		step += 2
	}
	hi := k % n
	return mulMod(hi, step, n)
}

func coprime(a, b uint64) bool {
	for b != 0 {
		a, b = b, a%b
	}
	return a == 1
}

// mulMod is a*b mod n for n below 2^40 or so and a result that fits.
func mulMod(a, b, n uint64) uint64 {
	const half = 1 << 20
	return (a*(b/half)%n*half + a*(b%half)) % n
}

// scramble is the finaliser of splitmix64 (G. L. Steele, D. Lea, C. H. Flood,
// "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
