// Statistics counts the words of a text, paragraph by paragraph.
//
//	go run ./examples/statistics LICENSE
//
// The data are a text with empty lines between its paragraphs: here the license of this repository,
// the Apache License 2.0; any book in plain text will do.
//
// A(i,j) is how often word j stands in paragraph i: a matrix of which a few percent are
// stored. What is not stored is 0 and counts: the median of a word over the paragraphs is
// 0 for most words, without a zero being visited.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// counts describes the paragraphs and the words. S has the words from the most frequent
// on, and L the logarithm of the part of the text that the first j+1 of them make up:
// half of them take few.
const counts = `
	length(i) = sum_j A(i,j)
	total = sum_{i,j} A(i,j)
	lengths(k) = quantile_i(length(i), q(k))
	often(j) = sum_i A(i,j)
	most(j) = max_i A(i,j)
	usual(j) = median_i A(i,j)
	repeated = sum_j any_i (A(i,j) > 1)
	common = sum_j (usual(j) > 0)
	S(j) = sort_j[descending] often(j)
	L(j) = logcumsumexp_j log(S(j)/total)
	half = 1 + sum_j (L(j) < log(0.5))`

// surprise is how unlikely the text is if word j is drawn with the weight exp(w(j)).
const surprise = "s = total*logsumexp_j w(j) - sum_j often(j)*w(j)"

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: statistics FILE")
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal("statistics: ", err)
	}
}

func run(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	A, words, err := count(string(text))
	if err != nil {
		return err
	}
	q, err := vector([]float64{0.5, 0.9, 1})
	if err != nil {
		return err
	}
	s := lacuna.NewSession()
	out, err := s.EvalAll(ctx, counts, lacuna.Args{"A": A, "q": q},
		lacuna.Result("often", tensor.Dense(1)), lacuna.Result("most", tensor.Dense(1)), lacuna.Result("usual", tensor.Dense(1)))
	if err != nil {
		return err
	}
	number := func(name string) float64 { return out[name].At().Float64() }
	lengths := tensor.View[float64](out["lengths"].Values())
	fmt.Printf("%-36s %6d\n", "paragraphs", A.Shape()[0])
	fmt.Printf("%-36s %6d\n", "different words", len(words))
	fmt.Printf("%-36s %6.1f\n", "stored, percent", 100*float64(A.NNZ())/float64(A.Shape()[0]*A.Shape()[1]))
	fmt.Printf("%-36s %6.0f\n", "words", number("total"))
	fmt.Printf("%-36s %6.1f\n", "words in a paragraph, median", lengths[0])
	fmt.Printf("%-36s %6.1f\n", "   nine in ten have at most", lengths[1])
	fmt.Printf("%-36s %6.0f\n", "   the longest has", lengths[2])
	fmt.Printf("%-36s %6.0f\n", "words that a paragraph repeats", number("repeated"))
	fmt.Printf("%-36s %6.0f\n", "words in most paragraphs", number("common"))
	fmt.Printf("%-36s %6.0f\n", "words that make up half of the text", number("half"))

	weights, err := vector(make([]float64, len(words)))
	if err != nil {
		return err
	}
	// Downhill from equal weights lie those of the frequent words.
	slope, err := s.EvalGrad(ctx, surprise, "w", lacuna.Args{"w": weights, "often": out["often"], "total": out["total"]})
	if err != nil {
		return err
	}
	steep := tensor.View[float64](slope.Values())
	order := make([]int, len(words))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(steep[a], steep[b]) })
	fmt.Printf("\n%-12s %6s %6s %6s %9s\n", "word", "times", "most", "median", "gradient")
	for _, j := range order[:min(5, len(order))] {
		at := func(name string) float64 { return out[name].At(int64(j)).Float64() }
		fmt.Printf("%-12s %6.0f %6.0f %6.1f %9.2f\n", words[j], at("often"), at("most"), at("usual"), steep[j])
	}
	return nil
}

// count is the matrix of a text, and its words in the order in which they first come.
func count(text string) (*tensor.Tensor, []string, error) {
	var coords [2][]int64
	var words []string
	number := map[string]int64{}
	paragraphs := int64(0)
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		found := strings.FieldsFunc(strings.ToLower(paragraph), func(r rune) bool { return !unicode.IsLetter(r) })
		for _, w := range found {
			if _, known := number[w]; !known {
				number[w] = int64(len(words))
				words = append(words, w)
			}
			coords[0], coords[1] = append(coords[0], paragraphs), append(coords[1], number[w])
		}
		if len(found) > 0 {
			paragraphs++
		}
	}
	if len(words) == 0 {
		return nil, nil, errors.New("the text has no words")
	}
	// Ones at equal coordinates are summed.
	ones := tensor.ArrayOf(slices.Repeat([]float64{1}, len(coords[0])))
	A, err := tensor.FromCoords([]int64{paragraphs, int64(len(words))}, tensor.CSR, coords[:], ones)
	return A, words, err
}

func vector(v []float64) (*tensor.Tensor, error) {
	return tensor.FromDense([]int64{int64(len(v))}, tensor.Dense(1), tensor.ArrayOf(v))
}
