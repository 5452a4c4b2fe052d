package explorer

// Example is a program with operands, to begin with.
type Example struct {
	Title    string    `json:"title"`
	Group    string    `json:"group"`
	About    string    `json:"about"`
	Program  string    `json:"program"`
	Operands []Operand `json:"operands"`
}

// Gallery are the examples of the documentation, small enough to watch them run.
func Gallery() []Example {
	return []Example{
		{"Matrix times vector", "Products", "A sparse matrix times a dense vector: the loop of j visits what a row stores.",
			"y(i) = sum_j A(i,j)*x(j)", []Operand{drawn("A", "CSR", 0.3, 1, 8, 8), dense("x", 2, 8)}},
		{"By columns", "Products", "The same with A by columns: the loops change places, and y is added to.",
			"y(i) = sum_j A(i,j)*x(j)", []Operand{drawn("A", "CSC", 0.3, 1, 8, 8), dense("x", 2, 8)}},
		{"Sparse times sparse (SpGEMM)", "Products", "A workspace gathers each row of the result, which is then appended.",
			"C(i,j) = sum_k A(i,k)*B(k,j)", []Operand{drawn("A", "CSR", 0.25, 1, 6, 6), drawn("B", "CSR", 0.25, 2, 6, 6), {Name: "C", Format: "CSR"}}},
		{"Masked product (SDDMM)", "Products", "Only where S stores something: the dense product is never made.",
			"C(i,j) = S(i,j) * sum_k A(i,k)*B(k,j)", []Operand{drawn("S", "CSR", 0.2, 1, 6, 6), dense("A", 2, 6, 4), dense("B", 3, 4, 6)}},
		{"MTTKRP", "Products", "A tensor of rank 3 times two matrices, as in tensor decompositions.",
			"M(i,r) = sum_{j,k} T(i,j,k)*B(j,r)*C(k,r)", []Operand{drawn("T", "CSF", 0.1, 1, 5, 5, 5), dense("B", 2, 5, 3), dense("C", 3, 5, 3)}},
		{"Union of two matrices", "Merging", "A sum visits what either stores: two lists are merged.",
			"C(i,j) = A(i,j) + B(i,j)", []Operand{drawn("A", "CSR", 0.3, 1, 6, 6), drawn("B", "CSR", 0.3, 2, 6, 6), {Name: "C", Format: "CSR"}}},
		{"Intersection of two matrices", "Merging", "A product visits what both store.",
			"C(i,j) = A(i,j) * B(i,j)", []Operand{drawn("A", "CSR", 0.4, 1, 6, 6), drawn("B", "CSR", 0.4, 2, 6, 6), {Name: "C", Format: "CSR"}}},
		{"Dot product of sparse vectors", "Merging", "Two lists of coordinates, moved along together.",
			"s = sum_i a(i)*b(i)", []Operand{drawn("a", "DVEC", 0.4, 1, 16), drawn("b", "DVEC", 0.4, 2, 16)}},
		{"Counting triangles", "Graphs", "Closed walks of three edges, each triangle six times, over the entries of A only.",
			"n = sum_{i,j,k} A(i,j)*A(j,k)*A(k,i)", []Operand{{Name: "A", Format: "CSR", Text: ". 1 1 . 1\n1 . 1 1 .\n1 1 . 1 .\n. 1 1 . 1\n1 . . 1 ."}}},
		{"One step of PageRank", "Graphs", "Ranks flow along the edges, with some chance to begin anew.",
			"d(j) = sum_i A(i,j)\nr1(i) = 0.15/6 + 0.85 * sum_{j in A} (A(i,j)*r(j)/d(j))",
			[]Operand{{Name: "A", Format: "CSR", Text: ". 1 . . 1 .\n1 . 1 . . .\n. 1 . 1 . 1\n1 . . . 1 .\n. . 1 . . 1\n. . . 1 . ."}, {Name: "r", Text: "0.1 0.2 0.2 0.1 0.2 0.2"}}},
		{"Shortest paths", "Graphs", "A product over min and plus; what is not stored is infinitely far.",
			"d1(j) = min_i (d(i) + A(i,j))", []Operand{{Name: "A", Format: "CSC", Fill: "inf", Text: "0 3 . 7\n. 0 1 .\n2 . 0 2\n. . . 0"}, {Name: "d", Text: "0 3 9 7"}}},
		{"Attention", "Machine learning", "Scores where the mask stores something, their softmax along each row, and the values it weighs.",
			"S(i,j) = M(i,j) * sum_k Q(i,k)*K(j,k)\nE(i,j) = where(stored(M(i,j)), exp(S(i,j)), 0)\nz(i) = sum_j E(i,j)\nO(i,c) = sum_j E(i,j)*V(j,c) / z(i)",
			[]Operand{{Name: "M", Format: "CSR", Text: "1 . . . .\n1 1 . . .\n. 1 1 . .\n. . 1 1 .\n1 . . 1 1"}, dense("Q", 1, 5, 3), dense("K", 2, 5, 3), dense("V", 3, 5, 2)}},
		{"A layer with relu", "Machine learning", "Sparse weights, a bias, and what is positive of it. Its gradient is a click away.",
			"y(i) = relu(sum_j W(i,j)*x(j) + b(i))", []Operand{drawn("W", "CSR", 0.4, 1, 6, 8), dense("x", 2, 8), dense("b", 3, 6)}},
		{"A loss to differentiate", "Machine learning", "The sum of squares of what a product misses: take its gradient by A.",
			"e(i) = sum_j A(i,j)*x(j) - b(i)\nloss = sum_i e(i)^2", []Operand{drawn("A", "CSR", 0.4, 1, 6, 6), dense("x", 2, 6), dense("b", 3, 6)}},
		{"Quantiles of rows", "Statistics", "Gaps count with their value, 0, and are not visited one by one.",
			"Q(k,i) = quantile_j[linear](A(i,j), q(k))", []Operand{drawn("A", "CSR", 0.4, 1, 5, 9), {Name: "q", Text: "0.5 0.9 1"}}},
		{"The largest of each row", "Statistics", "Gaps are zeros, so a row of negative numbers with a gap has the maximum 0.",
			"m(i) = max_j A(i,j)", []Operand{{Name: "A", Format: "CSR", Text: "-1 . -2 -3\n. 4 . 1\n-1 -2 -3 -4\n. . . ."}}},
		{"Mean and variance", "Statistics", "Both over whole columns, gaps included.",
			"m(j) = mean_i A(i,j)\nv(j) = var_i A(i,j)", []Operand{drawn("A", "CSC", 0.4, 1, 8, 5)}},
		{"Log-cumulative-sum-exp", "Scans", "A scan that does not overflow, over what each row stores in turn.",
			"L(i,j) = logcumsumexp_j[exclusive, reverse] A(i,j)", []Operand{drawn("A", "CSR", 0.4, 1, 4, 7)}},
		{"Running sums", "Scans", "Values change at entries only.",
			"S(i,j) = cumsum_j A(i,j)", []Operand{drawn("A", "CSR", 0.3, 1, 4, 8)}},
		{"Gather", "Indices", "Elements of x in the order that p says.",
			"y(i) = x(p(i))", []Operand{dense("x", 1, 6), {Name: "p", DType: "i64", Text: "5 3 3 0 1"}}},
		{"Scatter", "Indices", "Counts how often each bin is named.",
			"h(p(i)) += w(i)", []Operand{{Name: "h", Text: "0 0 0 0"}, {Name: "p", DType: "i64", Text: "0 2 2 3 0 2"}, {Name: "w", Text: "1 1 1 1 1 1"}}},
		{"Convolution", "Indices", "Indices may be sums: a filter slides along a sparse signal.",
			"y(i) = sum_k x(i+k)*f(k)", []Operand{drawn("x", "DVEC", 0.4, 1, 16), {Name: "f", Text: "0.25 0.5 0.25"}, {Name: "y", Shape: []int64{14}}}},
		{"The lower triangle", "Indices", "Index variables are numbers too. The rest is not stored.",
			"R(i,j) = where(j <= i, A(i,j), 0)", []Operand{drawn("A", "CSR", 0.5, 1, 6, 6), {Name: "R", Format: "CSR"}}},
		{"Transpose", "Formats", "A program that stores again, by columns first.",
			"B(j,i) = A(i,j)", []Operand{drawn("A", "CSR", 0.3, 1, 6, 6), {Name: "B", Format: "CSR"}}},
	}
}

// drawn is an operand of random entries.
func drawn(name, format string, density float64, seed uint64, shape ...int64) Operand {
	return Operand{Name: name, Format: format, Random: &Random{Shape: shape, Density: &density, Seed: seed}}
}

// dense is an operand of random elements.
func dense(name string, seed uint64, shape ...int64) Operand {
	return Operand{Name: name, Random: &Random{Shape: shape, Seed: seed}}
}

// samples are tensors that people know, for whoever has none at hand.
func samples() []Example {
	sample := func(title, about string, o Operand) Example {
		return Example{Title: title, Group: "Samples", About: about, Operands: []Operand{o}}
	}
	return []Example{
		sample("identity, 6×6", "Ones on the diagonal.", Operand{Format: "CSR", Text: "1 . . . . .\n. 1 . . . .\n. . 1 . . .\n. . . 1 . .\n. . . . 1 .\n. . . . . 1"}),
		sample("second differences, 6×6", "A tridiagonal matrix.", Operand{Format: "CSR", Text: "2 -1 . . . .\n-1 2 -1 . . .\n. -1 2 -1 . .\n. . -1 2 -1 .\n. . . -1 2 -1\n. . . . -1 2"}),
		sample("arrow, 6×6", "A first row and column that are full, and the diagonal.", Operand{Format: "CSR", Text: "6 1 1 1 1 1\n1 6 . . . .\n1 . 6 . . .\n1 . . 6 . .\n1 . . . 6 .\n1 . . . . 6"}),
		sample("a graph with two triangles, 6×6", "Two triangles with an edge between them, once in each direction.", Operand{Format: "CSR", Text: ". 1 1 . . .\n1 . 1 . . .\n1 1 . 1 . .\n. . 1 . 1 1\n. . . 1 . 1\n. . . 1 1 ."}),
		sample("one long row, 6×6", "What makes it hard to share the rows among threads.", Operand{Format: "CSR", Text: "1 2 3 4 5 6\n. 1 . . . .\n. . . . . .\n. . . 1 . .\n. . . . . .\n. . . . . 1"}),
		sample("a vector with gaps, 6", "A dot is not stored.", Operand{Format: "DVEC", Text: "1 . . 2 . 3"}),
	}
}
