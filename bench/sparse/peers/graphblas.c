// The SuiteSparse:GraphBLAS side, on one thread. GraphBLAS may leave rows
// unsorted until somebody asks; GrB_Matrix_wait asks.

#include <GraphBLAS.h>

#include "side.h"

enum { OPERANDS = 16 };

static GrB_Matrix operands[OPERANDS], lower, result;
static GrB_Vector x, y;
static GrB_Index n, tuples, *tuple_rows, *tuple_cols;
static double *tuple_vals, count;

static void ok(GrB_Info info) {
	char code[16];
	snprintf(code, sizeof code, "%d", info);
	if (info != GrB_SUCCESS)
		fail("GraphBLAS", code);
}

// widened reads an array of 32-bit indices as GrB_Index.
static GrB_Index *widened(const char *name, int64_t *length) {
	int64_t size;
	int32_t *narrow = (int32_t *)load(name, &size);
	*length = size / 4;
	GrB_Index *wide = (GrB_Index *)allocate(*length * sizeof *wide);
	for (int64_t p = 0; p < *length; p++)
		wide[p] = narrow[p];
	free(narrow);
	return wide;
}

static GrB_Matrix load_matrix(const char *name) {
	char file[80];
	int64_t rows, nnz, size;
	GrB_Matrix m;
	snprintf(file, sizeof file, "%s.pos", name);
	GrB_Index *pos = widened(file, &rows);
	snprintf(file, sizeof file, "%s.crd", name);
	GrB_Index *crd = widened(file, &nnz);
	snprintf(file, sizeof file, "%s.val", name);
	void *vals = load(file, &size);
	n = rows - 1;
	ok(GxB_Matrix_import_CSR(&m, GrB_FP64, n, n, &pos, &crd, &vals, rows * 8, nnz * 8, nnz * 8, false, false, NULL));
	return m;
}

static void load_operands(int count) {
	for (int k = 0; k < count; k++)
		if (!operands[k]) {
			char name[8];
			snprintf(name, sizeof name, "A%d", k);
			operands[k] = load_matrix(name);
		}
}

static void prepare1(void) { load_operands(1); }
static void prepare2(void) { load_operands(2); }
static void prepare8(void) { load_operands(8); }
static void prepare16(void) { load_operands(16); }

static void load_tuples(const char *rows, const char *cols, const char *vals) {
	int64_t length;
	load_operands(1);
	free(tuple_rows);
	free(tuple_cols);
	free(tuple_vals);
	tuple_rows = widened(rows, &length);
	tuple_cols = widened(cols, &length);
	tuple_vals = (double *)load(vals, &length);
	tuples = length / 8;
}

static void prepare_shuffled(void) { load_tuples("shuffled.row", "shuffled.col", "shuffled.val"); }
static void prepare_sorted(void) { load_tuples("sorted.row", "sorted.col", "sorted.val"); }

static void prepare_spmv(void) {
	load_operands(1);
	void *values = units(0, n);
	ok(GxB_Vector_import_Full(&x, GrB_FP64, n, &values, n * 8, false, NULL));
}

static void prepare_triangles(void) {
	if (!lower)
		lower = load_matrix("L");
}

// new_result makes an empty matrix that is stored by rows whatever its density.
static GrB_Matrix new_result(void) {
	GrB_Matrix m;
	ok(GrB_Matrix_new(&m, GrB_FP64, n, n));
	ok(GxB_Matrix_Option_set(m, GxB_SPARSITY_CONTROL, GxB_SPARSE));
	return m;
}

static void multiply(GrB_Semiring semiring) {
	result = new_result();
	ok(GrB_mxm(result, NULL, NULL, semiring, operands[0], operands[0], NULL));
}

static void run_unsorted(void) { multiply(GrB_PLUS_TIMES_SEMIRING_FP64); }

static void run_spgemm(void) {
	multiply(GrB_PLUS_TIMES_SEMIRING_FP64);
	ok(GrB_Matrix_wait(result, GrB_MATERIALIZE));
}

static void run_min_plus_spgemm(void) {
	multiply(GrB_MIN_PLUS_SEMIRING_FP64);
	ok(GrB_Matrix_wait(result, GrB_MATERIALIZE));
}

static void run_masked(void) {
	result = new_result();
	ok(GrB_mxm(result, lower, NULL, GxB_PLUS_PAIR_FP64, lower, lower, GrB_DESC_S));
	ok(GrB_Matrix_wait(result, GrB_MATERIALIZE));
}

static void run_triangles(void) {
	result = new_result();
	ok(GrB_mxm(result, lower, NULL, GxB_PLUS_PAIR_FP64, lower, lower, GrB_DESC_S));
	ok(GrB_Matrix_reduce_FP64(&count, NULL, GrB_PLUS_MONOID_FP64, result, NULL));
}

static GrB_Matrix sum(GrB_Matrix a, GrB_Matrix b) {
	GrB_Matrix m = new_result();
	ok(GrB_Matrix_eWiseAdd_BinaryOp(m, NULL, NULL, GrB_PLUS_FP64, a, b, NULL));
	ok(GrB_Matrix_wait(m, GrB_MATERIALIZE));
	return m;
}

// Pairs, then pairs of pairs.
static void add_pairs(int count) {
	GrB_Matrix sums[OPERANDS / 2];
	for (int k = 0; k < count / 2; k++)
		sums[k] = sum(operands[2 * k], operands[2 * k + 1]);
	for (count /= 2; count > 1; count /= 2)
		for (int k = 0; k < count / 2; k++) {
			GrB_Matrix s = sum(sums[2 * k], sums[2 * k + 1]);
			ok(GrB_Matrix_free(&sums[2 * k]));
			ok(GrB_Matrix_free(&sums[2 * k + 1]));
			sums[k] = s;
		}
	result = sums[0];
}

static void add_running(int count) {
	result = sum(operands[0], operands[1]);
	for (int k = 2; k < count; k++) {
		GrB_Matrix s = sum(result, operands[k]);
		ok(GrB_Matrix_free(&result));
		result = s;
	}
}

static void run_add(void) { add_pairs(2); }
static void run_add8(void) { add_pairs(8); }
static void run_add16(void) { add_pairs(16); }
static void run_running8(void) { add_running(8); }
static void run_running16(void) { add_running(16); }

// The transposed stored by rows is the matrix stored by columns.
static void run_csc(void) {
	result = new_result();
	ok(GrB_transpose(result, NULL, NULL, operands[0], NULL));
	ok(GrB_Matrix_wait(result, GrB_MATERIALIZE));
}

static void run_coo(void) {
	result = new_result();
	ok(GrB_Matrix_build_FP64(result, tuple_rows, tuple_cols, tuple_vals, tuples, GrB_PLUS_FP64));
	ok(GrB_Matrix_wait(result, GrB_MATERIALIZE));
}

static void run_spmv(void) {
	ok(GrB_Vector_new(&y, GrB_FP64, n));
	ok(GrB_mxv(y, NULL, NULL, GrB_MIN_PLUS_SEMIRING_FP64, operands[0], x, NULL));
	ok(GrB_Vector_wait(y, GrB_MATERIALIZE));
}

enum stored { BY_ROWS, BY_COLUMNS };

static void describe(struct summary *s, enum stored how) {
	GrB_Type type;
	GrB_Index rows, cols, pos_size, crd_size, vals_size, *pos, *crd;
	void *vals;
	bool iso, jumbled;
	ok(GxB_Matrix_export_CSR(&result, &type, &rows, &cols, &pos, &crd, &vals, &pos_size, &crd_size, &vals_size, &iso,
	                         &jumbled, NULL));
	s->sorted = !jumbled;
	s->nnz = pos[rows];
	for (GrB_Index i = 0; i < rows; i++)
		for (GrB_Index p = pos[i]; p < pos[i + 1]; p++) {
			double v = ((double *)vals)[iso ? 0 : p];
			if (how == BY_COLUMNS)
				add_entry(s, crd[p], i, v);
			else
				add_entry(s, i, crd[p], v);
		}
	free(pos);
	free(crd);
	free(vals);
}

static void describe_matrix(struct summary *s) { describe(s, BY_ROWS); }
static void describe_csc(struct summary *s) { describe(s, BY_COLUMNS); }

static void describe_vector(struct summary *s) {
	GrB_Index entries;
	ok(GrB_Vector_nvals(&entries, y));
	s->nnz = entries;
	for (GrB_Index i = 0; i < n; i++) {
		double v;
		if (GrB_Vector_extractElement_FP64(&v, y, i) == GrB_SUCCESS)
			add_entry(s, i, 0, v);
	}
}

static void describe_count(struct summary *s) {
	s->nnz = 1;
	add_entry(s, 0, 0, count);
}

static void drop_matrix(void) { GrB_Matrix_free(&result); }
static void drop_vector(void) { GrB_Vector_free(&y); }

static const struct operation operations[] = {
    {"spgemm", prepare1, run_spgemm, describe_matrix, drop_matrix},
    {"spgemm-unsorted", prepare1, run_unsorted, describe_matrix, drop_matrix},
    {"min-plus-spgemm", prepare1, run_min_plus_spgemm, describe_matrix, drop_matrix},
    {"min-plus-spmv", prepare_spmv, run_spmv, describe_vector, drop_vector},
    {"masked", prepare_triangles, run_masked, describe_matrix, drop_matrix},
    {"triangles", prepare_triangles, run_triangles, describe_count, drop_matrix},
    {"add", prepare2, run_add, describe_matrix, drop_matrix},
    {"add8", prepare8, run_add8, describe_matrix, drop_matrix},
    {"add8-running", prepare8, run_running8, describe_matrix, drop_matrix},
    {"add16", prepare16, run_add16, describe_matrix, drop_matrix},
    {"add16-running", prepare16, run_running16, describe_matrix, drop_matrix},
    {"csc", prepare1, run_csc, describe_csc, drop_matrix},
    {"coo-shuffled", prepare_shuffled, run_coo, describe_matrix, drop_matrix},
    {"coo-sorted", prepare_sorted, run_coo, describe_matrix, drop_matrix},
    {NULL, NULL, NULL, NULL, NULL},
};

int main(int argc, char **argv) {
	char version[64];
	int v[3];
	ok(GrB_init(GrB_NONBLOCKING));
	ok(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, 1));
	ok(GxB_Global_Option_get(GxB_LIBRARY_VERSION, v));
	snprintf(version, sizeof version, "GraphBLAS %d.%d.%d", v[0], v[1], v[2]);
	return serve(operations, argc, argv, version);
}
