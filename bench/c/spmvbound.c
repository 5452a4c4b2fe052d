// y = A*x by ways that C has, for two kinds of matrices of bench/optimiser: two of 20,000 rows with 16 entries each at random, in turns (7.7 MB: the third cache), and a graph of
// 8,192 nodes with a power law, whose rows are short and of many lengths. Row by row; with entries asked for 256 ahead; in two chains; in eight lanes where a row has 16
// entries; and, without a branch on their number, the first four of a row, those that are not there being 0. The least and the median processor time of 500 runs, in turns.
//
//   cc -O3 -march=native -ffp-contract=off -o spmvbound spmvbound.c && ./spmvbound
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { rows = 20000, each = 16, nodes = 8192, edges = 8 * nodes, runs = 500, ahead = 256 };
typedef struct { int n, *pos, *crd; double *vals; } matrix;
static double x[rows], y[rows];

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e3 * t.tv_sec + 1e-6 * t.tv_nsec;
}

static double rest(const matrix *a, int p, int end, double s) {
	for (; p < end; p++) s += a->vals[p] * x[a->crd[p]];
	return s;
}

static void plain(const matrix *a) {
	for (int i = 0; i < a->n; i++) y[i] = rest(a, a->pos[i], a->pos[i + 1], 0);
}

static void asked(const matrix *a) {
	for (int i = 0; i < a->n; i++) {
		for (int p = a->pos[i]; p < a->pos[i + 1]; p += 8) __builtin_prefetch(a->vals + p + ahead);
		for (int p = a->pos[i]; p < a->pos[i + 1]; p += 16) __builtin_prefetch(a->crd + p + ahead);
		y[i] = rest(a, a->pos[i], a->pos[i + 1], 0);
	}
}

static void chains(const matrix *a) {
	for (int i = 0; i < a->n; i++) {
		double s = 0, t = 0;
		int p = a->pos[i], end = a->pos[i + 1];
		for (; p + 1 < end; p += 2) s += a->vals[p] * x[a->crd[p]], t += a->vals[p + 1] * x[a->crd[p + 1]];
		y[i] = rest(a, p, end, s) + t;
	}
}

static void lanes(const matrix *a) {
	for (int i = 0; i < a->n; i++) {
		int p = a->pos[i], end = a->pos[i + 1];
		double s = 0;
		if (end - p >= 16) {
			double l[8] = {0};
			for (; p + 8 <= end; p += 8)
				for (int t = 0; t < 8; t++) l[t] += a->vals[p + t] * x[a->crd[p + t]];
			for (int t = 0; t < 8; t++) s += l[t];
		}
		y[i] = rest(a, p, end, s);
	}
}

static void four(const matrix *a) {
	static const int none = 0;
	static const double zero = 0;
	for (int i = 0; i < a->n; i++) {
		int p = a->pos[i], n = a->pos[i + 1] - p;
		double s = 0;
		for (int t = 0; t < 4; t++) s += *(t < n ? a->vals + p + t : &zero) * x[*(t < n ? a->crd + p + t : &none)];
		y[i] = rest(a, p + 4, p + n, s);
	}
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static int compareTimes(const void *a, const void *b) {
	double d = *(const double *)a - *(const double *)b;
	return d < 0 ? -1 : d > 0;
}

static matrix made(int n, int entries, int *row, int *col) {
	matrix a = {n, calloc(n + 2, sizeof(int)), malloc((entries + ahead) * sizeof(int)), malloc((entries + ahead) * sizeof(double))};
	for (int e = 0; e < entries; e++) a.pos[row[e] + 2]++;
	for (int i = 0; i < n; i++) a.pos[i + 2] += a.pos[i + 1];
	for (int e = 0; e < entries; e++) a.crd[a.pos[row[e] + 1]++] = col[e];
	for (int i = 0; i < n; i++) qsort(a.crd + a.pos[i], a.pos[i + 1] - a.pos[i], sizeof(int), compare);
	for (int e = 0; e < entries; e++) a.vals[e] = drand48();
	return a;
}

static void measure(const char *name, const matrix *list, int count) {
	static const struct { const char *name; void (*run)(const matrix *); } ways[] = {{"row by row", plain}, {"asked ahead", asked}, {"two chains", chains}, {"lanes", lanes}, {"four at once", four}};
	enum { many = sizeof ways / sizeof *ways };
	static double took[many][runs];
	for (int r = 0; r < runs; r++)
		for (int w = 0; w < many; w++) {
			double begin = now();
			for (int k = 0; k < count; k++) {
				ways[w].run(list + k);
				__asm__ volatile("" : : "r"(y) : "memory");
			}
			took[w][r] = (now() - begin) / count;
		}
	for (int w = 0; w < many; w++) {
		qsort(took[w], runs, sizeof(double), compareTimes);
		printf("%s, %-12s %.4f ms least, %.4f median\n", name, ways[w].name, took[w][0], took[w][runs / 2]);
	}
}

int main(void) {
	static int row[rows * each], col[rows * each];
	for (int i = 0; i < rows; i++) x[i] = drand48();
	matrix list[2];
	for (int k = 0; k < 2; k++) {
		for (int e = 0; e < rows * each; e++) row[e] = e / each, col[e] = lrand48() % rows;
		list[k] = made(rows, rows * each, row, col);
	}
	measure("16 a row", list, 2);
	for (int e = 0; e < edges; e++) {
		row[e] = col[e] = 0;
		for (int bit = 0; bit < 13; bit++) {
			double r = drand48();
			row[e] = 2 * row[e] + (r >= 0.76), col[e] = 2 * col[e] + ((r >= 0.57 && r < 0.76) || r >= 0.95);
		}
	}
	matrix graph = made(nodes, edges, row, col);
	measure("graph", &graph, 1);
}
