// y = A*x of a matrix of a million rows with 8 entries each at random, as a C programmer writes it: with x of 8 MB and, as PETSc has it on two ranks in each of its two
// blocks, of 4 MB; in pages of 4 KiB and of 2 MiB. The least of 9 runs.
//
//   cc -O3 -march=native -o gather gather.c && ./gather
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void *memory(size_t bytes, int huge) {
	char *p = mmap(0, bytes + (2 << 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) exit(1);
	p += -(size_t)p & ((2 << 20) - 1);
	madvise(p, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return p;
}

int main() {
	long n = 1000000, k = 8;
	for (int huge = 0; huge < 2; huge++)
		for (long extent = n; extent >= n / 2; extent /= 2) {
			unsigned *pos = memory(4 * (n + 1), huge), *crd = memory(4 * n * k, huge);
			double *vals = memory(8 * n * k, huge), *x = memory(8 * extent, huge), *y = memory(8 * n, huge), best = 1;
			for (long i = 0; i < n * k; i++) crd[i] = ((unsigned long)random() * extent) >> 31, vals[i] = 1;
			for (long i = 0; i <= n; i++) pos[i] = i * k;
			for (long i = 0; i < extent; i++) x[i] = 1;
			for (int t = 0; t < 9; t++) {
				double start = now();
				for (long i = 0; i < n; i++) {
					double sum = 0;
					for (unsigned p = pos[i]; p < pos[i + 1]; p++) sum += vals[p] * x[crd[p]];
					y[i] = sum;
				}
				if ((start = now() - start) < best) best = start;
			}
			printf("%s pages, x of %ld MB: %.1f ms\n", huge ? "2 MiB" : "4 KiB", 8 * extent / 1000000, 1e3 * best);
		}
}
