// C(i,j) = A(i,j) * sum_k X(i,k) * Y(j,k) with 64 columns of X and Y, row by row. What a C compiler gains where it knows how many columns there are, and so can keep a row of X in
// registers for all entries of a row of A; and what the order of sums costs: "lanes" adds eight partial sums, of every eighth column, in order at the end, with no multiplication
// fused, as results have to that are to be the same on every processor. Rows of A have as many entries as are asked for, 5 by default: of 250,000 rows those of a 5-point stencil
// ("stencil"), or of 8,192 some anywhere ("random") or mostly in few columns ("graph"). The ways take turns; processor time, least of 21.
//
//   cc -O3 -march=native -ffast-math -ffp-contract=off -o sddmm sddmm.c && ./sddmm [stencil | graph | random [ENTRIES]]
//
// Emerald Rapids at a load of 4, ns an entry of stencil, graph 12 and random 12: columns known 19.4, 16.7, 25.2; not known 23.2, 16.4, 22.5; lanes 23.7, 16.0, 22.7. Fused
// multiplications (without -ffp-contract=off) change none of them by more than the noise, 5 %.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 21, DEPTH = 64, WAYS = 3 };
static int64_t n, per;
static const int64_t stencil[] = {-500, -1, 0, 1, 500};
static volatile int64_t columns = DEPTH;
static uint32_t *crd;
static double *vals, *x, *y, *out;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e3 * t.tv_sec + 1e-6 * t.tv_nsec;
}

static void known(void) {
	double *restrict o = out;
	for (int64_t i = 0; i < n; i++)
		for (int64_t p = i * per; p < (i + 1) * per; p++) {
			const double *a = x + i * DEPTH, *b = y + (int64_t)crd[p] * DEPTH;
			double sum = 0;
			for (int k = 0; k < DEPTH; k++) sum += a[k] * b[k];
			o[p] = vals[p] * sum;
		}
}

static void unknown(void) {
	double *restrict o = out;
	int64_t depth = columns;
	for (int64_t i = 0; i < n; i++)
		for (int64_t p = i * per; p < (i + 1) * per; p++) {
			const double *a = x + i * depth, *b = y + (int64_t)crd[p] * depth;
			double sum = 0;
			for (int64_t k = 0; k < depth; k++) sum += a[k] * b[k];
			o[p] = vals[p] * sum;
		}
}

typedef double lane __attribute__((vector_size(64), aligned(8)));

__attribute__((optimize("no-associative-math"))) static void lanes(void) {
	double *restrict o = out;
	int64_t depth = columns;
	for (int64_t i = 0; i < n; i++)
		for (int64_t p = i * per; p < (i + 1) * per; p++) {
			const double *a = x + i * depth, *b = y + (int64_t)crd[p] * depth;
			lane sums = {0};
			for (int64_t k = 0; k < depth; k += 8) sums += *(const lane *)(a + k) * *(const lane *)(b + k);
			double sum = 0;
			for (int t = 0; t < 8; t++) sum += sums[t];
			o[p] = vals[p] * sum;
		}
}

int main(int argc, char **argv) {
	int near = argc < 2 || !strcmp(argv[1], "stencil"), graph = argc > 1 && !strcmp(argv[1], "graph");
	per = argc > 2 ? atoi(argv[2]) : 5;
	n = near ? 250000 : 8192;
	crd = malloc(4 * n * per), vals = malloc(8 * n * per), out = malloc(8 * n * per), x = malloc(8 * n * DEPTH), y = malloc(8 * n * DEPTH);
	if (!crd || !vals || !out || !x || !y) return 1;
	for (int64_t i = 0; i < n; i++)
		for (int64_t e = 0; e < per; e++) {
			double at = random() / (RAND_MAX + 1.);
			crd[i * per + e] = near ? (i + n + stencil[e % 5]) % n : n * (graph ? at * at * at * at : at);
		}
	for (int64_t p = 0; p < n * per; p++) vals[p] = 1. / (1 + p % 77), out[p] = 0;
	for (int64_t p = 0; p < n * DEPTH; p++) x[p] = p % 13, y[p] = p % 7;
	void (*way[WAYS])(void) = {known, unknown, lanes};
	const char *names[WAYS] = {"64 columns, known", "64 columns", "64 columns, lanes in order"};
	double best[WAYS] = {1e9, 1e9, 1e9};
	for (int r = 0; r < RUNS; r++)
		for (int w = 0; w < WAYS; w++) {
			double start = now();
			way[w]();
			start = now() - start;
			if (start < best[w]) best[w] = start;
		}
	for (int w = 0; w < WAYS; w++) printf("%s: %.2f ms, %.1f ns an entry\n", names[w], best[w], 1e6 * best[w] / (n * per));
	return 0;
}
