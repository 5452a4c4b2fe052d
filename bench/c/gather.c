// y = A*x of a matrix of a million rows with 8 entries each at random, whose x of 8 MB does not fit what a core has of the third-level cache, by ways that C has: row by row;
// with elements of x asked for some entries ahead; in two passes over halves of the columns, of which the second goes on from the sums of the first (the same bits); and as PETSc
// has it on two ranks, where the two halves of the matrix are stored apart and the sums of a row are added. The least processor time of 9 runs, in turns.
//
//   cc -O3 -march=native -o gather gather.c && ./gather
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { n = 1000000, k = 8, ahead = 64, ways = 4 };
static unsigned *pos, *crd, *middle, *half_pos[2], *half_crd[2];
static double *vals, *x, *y, *first, *half_vals[2];

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void *memory(size_t bytes) {
	char *p = mmap(0, bytes + (2 << 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) exit(1);
	p += -(size_t)p & ((2 << 20) - 1);
	madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

static void plain(void) {
	for (long i = 0; i < n; i++) {
		double sum = 0;
		for (unsigned p = pos[i]; p < pos[i + 1]; p++) sum += vals[p] * x[crd[p]];
		y[i] = sum;
	}
}

static void asked(void) {
	unsigned last = pos[n] - 1;
	for (long i = 0; i < n; i++) {
		double sum = 0;
		for (unsigned p = pos[i]; p < pos[i + 1]; p++) {
			__builtin_prefetch(x + crd[p + ahead < last ? p + ahead : last]);
			sum += vals[p] * x[crd[p]];
		}
		y[i] = sum;
	}
}

static void passes(void) {
	for (long i = 0; i < n; i++) {
		double sum = 0;
		unsigned p = pos[i];
		for (; p < pos[i + 1] && crd[p] < n / 2; p++) sum += vals[p] * x[crd[p]];
		middle[i] = p, y[i] = sum;
	}
	for (long i = 0; i < n; i++) {
		double sum = y[i];
		for (unsigned p = middle[i]; p < pos[i + 1]; p++) sum += vals[p] * x[crd[p]];
		y[i] = sum;
	}
}

static void apart(void) {
	for (int h = 0; h < 2; h++)
		for (long i = 0; i < n; i++) {
			double sum = h ? y[i] : 0;
			for (unsigned p = half_pos[h][i]; p < half_pos[h][i + 1]; p++) sum += half_vals[h][p] * x[half_crd[h][p]];
			y[i] = sum;
		}
}

static int ascending(const void *a, const void *b) { return *(unsigned *)a < *(unsigned *)b ? -1 : 1; }

int main() {
	pos = memory(4 * (n + 1)), crd = memory(4 * n * k), middle = memory(4 * n), vals = memory(8 * n * k), x = memory(8 * n), y = memory(8 * n), first = memory(8 * n);
	for (int h = 0; h < 2; h++) half_pos[h] = memory(4 * (n + 1)), half_crd[h] = memory(4 * n * k), half_vals[h] = memory(8 * n * k);
	for (long e = 0; e < n * k; e++) crd[e] = ((unsigned long)random() * n) >> 31, vals[e] = 1. / (1 + e % 77);
	unsigned at[2] = {0, 0};
	for (long i = 0; i < n; i++) {
		qsort(crd + i * k, k, 4, ascending);
		for (long e = i * k; e < i * k + k; e++) {
			int h = crd[e] >= n / 2;
			half_crd[h][at[h]] = crd[e], half_vals[h][at[h]++] = vals[e];
		}
		x[i] = i % 13, pos[i + 1] = (i + 1) * k, half_pos[0][i + 1] = at[0], half_pos[1][i + 1] = at[1];
	}
	void (*way[ways])(void) = {plain, asked, passes, apart};
	const char *names[ways] = {"row by row", "asked for ahead", "two passes", "two passes, halves stored apart"};
	double best[ways] = {1, 1, 1, 1};
	for (int t = 0; t < 9; t++)
		for (int w = 0; w < ways; w++) {
			double start = now();
			way[w]();
			if ((start = now() - start) < best[w]) best[w] = start;
			if (t + w == 0) memcpy(first, y, 8 * n);
			if (memcmp(first, y, 8 * n)) puts("other bits");
		}
	for (int w = 0; w < ways; w++) printf("| %s | %.1f ms |\n", names[w], 1e3 * best[w]);
}
