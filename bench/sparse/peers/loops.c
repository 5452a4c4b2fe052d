// The loops that a C programmer writes, for operations that the libraries do
// not have. Matrices are in CSR with 32-bit indices.

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

static const struct operation operations[] = {
    {"sddmm", prepare_sddmm, run_sddmm, describe_sddmm, drop_sddmm},
    {"min-plus-spmv", prepare_spmv, run_spmv, describe_spmv, drop_spmv},
    {NULL, NULL, NULL, NULL, NULL},
};

int main(int argc, char **argv) { return serve(operations, argc, argv, "gcc " __VERSION__); }
