// The loops that a C programmer writes, for operations that the libraries do
// not have, and for reductions, to show what this machine can do. Matrices are
// in CSR with 32-bit indices, or lists of coordinates by rows.

#include "side.h"

enum { DEPTH = 64 }; // columns of the dense operands of SDDMM

static int64_t n, nnz;
static int32_t *pos, *crd;
static double *vals, *dense_x, *dense_y, *x;

static int32_t *new_pos, *new_crd;
static double *new_vals;

static void load_matrix(void) {
	int64_t size;
	if (pos)
		return;
	pos = (int32_t *)load("A0.pos", &size);
	n = size / 4 - 1;
	crd = (int32_t *)load("A0.crd", &size);
	nnz = size / 4;
	vals = (double *)load("A0.val", &size);
}

static void prepare_sddmm(void) {
	load_matrix();
	dense_x = units(0, n * DEPTH);
	dense_y = units(n * DEPTH, n * DEPTH);
}

static void sddmm(int64_t n, const int32_t *restrict pos, const int32_t *restrict crd, const double *restrict vals,
                  const double *restrict x, const double *restrict y, double *restrict out) {
	for (int64_t i = 0; i < n; i++) {
		const double *xi = x + i * DEPTH;
		for (int32_t p = pos[i]; p < pos[i + 1]; p++) {
			const double *yj = y + (int64_t)crd[p] * DEPTH;
			double sum = 0;
			for (int k = 0; k < DEPTH; k++)
				sum += xi[k] * yj[k];
			out[p] = vals[p] * sum;
		}
	}
}

static void run_sddmm(void) {
	new_pos = (int32_t *)allocate((n + 1) * sizeof *pos);
	new_crd = (int32_t *)allocate(nnz * sizeof *crd);
	new_vals = (double *)allocate(nnz * sizeof *vals);
	memcpy(new_pos, pos, (n + 1) * sizeof *pos);
	memcpy(new_crd, crd, nnz * sizeof *crd);
	sddmm(n, pos, crd, vals, dense_x, dense_y, new_vals);
}

static void describe_sddmm(struct summary *s) {
	s->nnz = new_pos[n];
	for (int64_t i = 0; i < n; i++)
		for (int32_t p = new_pos[i]; p < new_pos[i + 1]; p++) {
			s->sorted &= p == new_pos[i] || new_crd[p - 1] < new_crd[p];
			add_entry(s, i, new_crd[p], new_vals[p]);
		}
}

static void drop_sddmm(void) {
	free(new_pos);
	free(new_crd);
	free(new_vals);
}

static void prepare_spmv(void) {
	load_matrix();
	x = units(0, n);
}

static void min_plus_spmv(int64_t n, const int32_t *restrict pos, const int32_t *restrict crd,
                          const double *restrict vals, const double *restrict x, double *restrict y) {
	for (int64_t i = 0; i < n; i++) {
		double least = INFINITY;
		for (int32_t p = pos[i]; p < pos[i + 1]; p++) {
			double d = vals[p] + x[crd[p]];
			least = d < least ? d : least;
		}
		y[i] = least;
	}
}

static void run_spmv(void) {
	new_vals = (double *)allocate(n * sizeof *new_vals);
	min_plus_spmv(n, pos, crd, vals, x, new_vals);
}

static void describe_spmv(struct summary *s) {
	for (int64_t i = 0; i < n; i++) {
		s->nnz += new_vals[i] != INFINITY;
		add_entry(s, i, 0, new_vals[i]);
	}
}

static void drop_spmv(void) { free(new_vals); }

// Reductions to a dense vector. Every line has a gap, so maxima start at 0.

static int32_t *row;
static double *second; // another vector of sums

static void prepare_lists(void) {
	load_matrix();
	if (row)
		return;
	row = (int32_t *)allocate(nnz * sizeof *row);
	for (int64_t i = 0; i < n; i++)
		for (int32_t p = pos[i]; p < pos[i + 1]; p++)
			row[p] = i;
	second = (double *)allocate(n * sizeof *second);
}

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }
static double added(double a, double b) { return a + b; }

// COLUMNS and ROWS define a loop over the entries that folds them by column or row.
#define COLUMNS(name, fold)                                                                                             \
	static void name(int64_t n, int64_t nnz, const int32_t *restrict crd, const double *restrict vals,                 \
	                 double *restrict y) {                                                                             \
		memset(y, 0, n * sizeof *y);                                                                                   \
		for (int64_t p = 0; p < nnz; p++)                                                                              \
			y[crd[p]] = fold(y[crd[p]], vals[p]);                                                                      \
	}
#define ROWS(name, fold)                                                                                                \
	static void name(int64_t n, int64_t nnz, const int32_t *restrict row, const double *restrict vals,                 \
	                 double *restrict y) {                                                                             \
		memset(y, 0, n * sizeof *y);                                                                                   \
		for (int64_t p = 0; p < nnz;) {                                                                                \
			int32_t i = row[p];                                                                                        \
			double of_row = 0;                                                                                         \
			do                                                                                                         \
				of_row = fold(of_row, vals[p++]);                                                                      \
			while (p < nnz && row[p] == i);                                                                            \
			y[i] = of_row;                                                                                             \
		}                                                                                                              \
	}
COLUMNS(sum_columns, added)
COLUMNS(max_columns, larger)
COLUMNS(min_columns, smaller)
ROWS(sum_rows, added)
ROWS(max_rows, larger)
ROWS(min_rows, smaller)

// sum_columns_twice goes through both halves of the entries at the same time, each with
// sums of its own, so that fewer additions wait for the one before.
static void sum_columns_twice(int64_t n, int64_t nnz, const int32_t *restrict crd, const double *restrict vals,
                              double *restrict y, double *restrict z) {
	memset(y, 0, n * sizeof *y);
	memset(z, 0, n * sizeof *z);
	int64_t half = nnz / 2;
	for (int64_t p = 0; p < half; p++) {
		y[crd[p]] += vals[p];
		z[crd[p + half]] += vals[p + half];
	}
	if (nnz % 2)
		z[crd[nnz - 1]] += vals[nnz - 1];
	for (int64_t i = 0; i < n; i++)
		y[i] += z[i];
}

static double *new_line(void) { return new_vals = (double *)allocate(n * sizeof *new_vals); }

static void run_sum_columns(void) { sum_columns(n, nnz, crd, vals, new_line()); }
static void run_sum_columns_twice(void) { sum_columns_twice(n, nnz, crd, vals, new_line(), second); }
static void run_max_columns(void) { max_columns(n, nnz, crd, vals, new_line()); }
static void run_min_columns(void) { min_columns(n, nnz, crd, vals, new_line()); }
static void run_sum_rows(void) { sum_rows(n, nnz, row, vals, new_line()); }
static void run_max_rows(void) { max_rows(n, nnz, row, vals, new_line()); }
static void run_min_rows(void) { min_rows(n, nnz, row, vals, new_line()); }

static const struct operation operations[] = {
    {"sddmm", prepare_sddmm, run_sddmm, describe_sddmm, drop_sddmm},
    {"min-plus-spmv", prepare_spmv, run_spmv, describe_spmv, drop_spmv},
    {"sum-columns-loop", prepare_lists, run_sum_columns, describe_spmv, drop_spmv},
    {"sum-columns-twice", prepare_lists, run_sum_columns_twice, describe_spmv, drop_spmv},
    {"max-columns-loop", prepare_lists, run_max_columns, describe_spmv, drop_spmv},
    {"min-columns-loop", prepare_lists, run_min_columns, describe_spmv, drop_spmv},
    {"sum-rows-loop", prepare_lists, run_sum_rows, describe_spmv, drop_spmv},
    {"max-rows-loop", prepare_lists, run_max_rows, describe_spmv, drop_spmv},
    {"min-rows-loop", prepare_lists, run_min_rows, describe_spmv, drop_spmv},
    {NULL, NULL, NULL, NULL, NULL},
};

int main(int argc, char **argv) { return serve(operations, argc, argv, "gcc " __VERSION__); }
