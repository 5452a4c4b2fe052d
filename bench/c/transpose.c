// CSR to CSC of the 5-point Laplacian of a grid of EDGE x EDGE, 500 by default, or of as many rows and entries with columns at random, by a counting sort: as a C programmer
// writes it, with where 64 entries go looked up before any of them is stored, and with the place of the entry 24 behind asked for, which is about where the counter of its
// column says now. They take turns; processor time, least and median of 101.
//
//   cc -O3 -march=native -o transpose transpose.c && ./transpose [EDGE [random]]
//
// Emerald Rapids, 2 MiB of L2, least of ./transpose and of ./transpose 250 random, at a load of 5: plain 4.15 and 4.10 ms, in blocks 5.00 and 3.50, asked for ahead 3.35 and 2.03.
// On a Zen 3 blocks gain a third (bench/results/zen3-2026-11-27.md).
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 101, BLOCK = 64, AHEAD = 24, WAYS = 3 };

static int64_t n, nnz;
static uint32_t *pos, *crd, *new_pos, *new_crd, *at;
static double *vals, *new_vals;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e3 * t.tv_sec + 1e-6 * t.tv_nsec;
}

static void *memory(size_t bytes) {
	void *p = malloc(bytes);
	if (!p) exit(1);
	return memset(p, 0, bytes);
}

static void count(void) {
	memset(at, 0, n * sizeof *at);
	for (int64_t p = 0; p < nnz; p++) at[crd[p]]++;
	uint32_t sum = 0;
	for (int64_t i = 0; i < n; i++) {
		uint32_t here = at[i];
		new_pos[i] = at[i] = sum;
		sum += here;
	}
	new_pos[n] = sum;
}

static void plain(void) {
	count();
	uint32_t *restrict c = new_crd, *restrict to = at;
	double *restrict v = new_vals;
	for (int64_t i = 0; i < n; i++)
		for (uint32_t p = pos[i]; p < pos[i + 1]; p++) {
			uint32_t q = to[crd[p]]++;
			c[q] = i;
			v[q] = vals[p];
		}
}

static void blocked(void) {
	count();
	uint32_t *restrict c = new_crd, to[BLOCK];
	double *restrict v = new_vals;
	int64_t i = 0;
	for (int64_t first = 0; first < nnz; first += BLOCK) {
		int64_t end = first + BLOCK < nnz ? first + BLOCK : nnz;
		for (int64_t p = first; p < end; p++) to[p - first] = at[crd[p]]++;
		for (int64_t p = first; p < end; i += p == pos[i + 1])
			for (int64_t stop = pos[i + 1] < end ? pos[i + 1] : end; p < stop; p++) {
				c[to[p - first]] = i;
				v[to[p - first]] = vals[p];
			}
	}
}

static void ahead(void) {
	count();
	uint32_t *restrict c = new_crd, *restrict to = at, last = nnz - 1;
	double *restrict v = new_vals;
	for (int64_t i = 0; i < n; i++)
		for (uint32_t p = pos[i]; p < pos[i + 1]; p++) {
			uint32_t later = to[crd[p + AHEAD < last ? p + AHEAD : last]];
			__builtin_prefetch(c + later, 1);
			__builtin_prefetch(v + later, 1);
			uint32_t q = to[crd[p]]++;
			c[q] = i;
			v[q] = vals[p];
		}
}

static int order(const void *a, const void *b) { return *(double *)a < *(double *)b ? -1 : 1; }

int main(int argc, char **argv) {
	int64_t edge = argc > 1 ? atoi(argv[1]) : 500;
	n = edge * edge;
	pos = memory(4 * (n + 1)), new_pos = memory(4 * (n + 1)), at = memory(4 * n);
	crd = memory(20 * n), new_crd = memory(20 * n), vals = memory(40 * n), new_vals = memory(40 * n);
	for (int64_t i = 0; i < n; i++) {
		if (i >= edge) crd[nnz++] = i - edge;
		if (i % edge) crd[nnz++] = i - 1;
		crd[nnz++] = i;
		if ((i + 1) % edge) crd[nnz++] = i + 1;
		if (i + edge < n) crd[nnz++] = i + edge;
		pos[i + 1] = nnz;
	}
	// Columns of a row need not be in order, or different, for what is measured.
	for (int64_t p = 0; argc > 2 && p < nnz; p++) crd[p] = (uint64_t)random() * n >> 31;
	for (int64_t p = 0; p < nnz; p++) vals[p] = p;
	void (*ways[])(void) = {plain, blocked, ahead};
	const char *names[] = {"plain", "in blocks", "asked for ahead"};
	double times[WAYS][RUNS], sums[WAYS];
	for (int r = 0; r < RUNS; r++)
		for (int w = 0; w < WAYS; w++) {
			double start = now();
			ways[w]();
			times[w][r] = now() - start;
			sums[w] = 0;
			for (int64_t p = 0; p < nnz; p++) sums[w] += new_vals[p] * (p % 1009) + new_crd[p];
		}
	for (int w = 0; w < WAYS; w++) {
		qsort(times[w], RUNS, sizeof(double), order);
		printf("%s: %.3f ms least, %.3f median\n", names[w], times[w][0], times[w][RUNS / 2]);
	}
	return sums[0] != sums[1] || sums[0] != sums[2];
}
