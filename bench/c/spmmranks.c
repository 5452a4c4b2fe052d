// What memory allows two processes to gain on one, each with a core of its own, at the product of the 5-point Laplacian of SIDE² rows with a dense matrix of 64 columns, or
// with a vector: C loops that move what the product has to move, by rows, with what a process needs of the other's rows in its own memory, and nothing sent.
//
//   cc -O3 -march=native -o spmmranks spmmranks.c && ./spmmranks 1000 10
//   cc -O3 -march=native -DCOLUMNS=1 -o spmvranks spmmranks.c && ./spmvranks 1000 100
//
// Variants take turns; times are medians of 9 rounds. Plain stores read a line of Y before they write it, which those that go round the caches do not; huge: memory
// is advised to be in pages of 2 MiB.
#define _GNU_SOURCE
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef COLUMNS
#define COLUMNS 64
#endif
enum { columns = COLUMNS, rounds = 9, variants = 4 };

static void *memory(size_t bytes, int huge) {
	char *p = mmap(0, bytes + (2 << 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) exit(1);
	p += -(size_t)p & ((2 << 20) - 1);
	madvise(p, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return p;
}

struct part { long rows; unsigned *pos, *crd; double *vals, *x, *y; };

static struct part make(long side, long lo, long hi, int huge) {
	long n = side * side, first = lo - side < 0 ? 0 : lo - side, last = hi + side > n ? n : hi + side, k = 0;
	struct part p = {hi - lo, memory(4 * (hi - lo + 1), huge), memory(4 * 5 * (hi - lo), huge), memory(8 * 5 * (hi - lo), huge),
		memory(8 * columns * (last - first), huge), memory(8 * columns * (hi - lo), huge)};
	for (long i = lo; i < hi; i++) {
		long at[5] = {i - side, i - 1, i, i + 1, i + side};
		for (int e = 0; e < 5; e++)
			if (at[e] >= 0 && at[e] < n && (e == 2 || e % 4 == 0 || at[e] / side == i / side)) p.crd[k] = at[e] - first, p.vals[k++] = 1. / (e + 1);
		p.pos[i - lo + 1] = k;
	}
	for (long i = 0; i < columns * (last - first); i++) p.x[i] = i % 1000;
	memset(p.y, 0, 8 * columns * p.rows);
	return p;
}

static inline __attribute__((always_inline)) void product(struct part p, int around) {
	if (columns == 1)
		for (long i = 0; i < p.rows; i++) {
			double sum = 0;
			for (unsigned e = p.pos[i]; e < p.pos[i + 1]; e++) sum += p.vals[e] * p.x[p.crd[e]];
			if (around) _mm_stream_si64((long long *)p.y + i, _mm_cvtsi128_si64(_mm_castpd_si128(_mm_set_sd(sum))));
			else p.y[i] = sum;
		}
	for (long i = 0; i < p.rows; i++)
		for (int c = 0; c + 32 <= columns; c += 32) {
			__m256d sum[8];
			for (int v = 0; v < 8; v++) sum[v] = _mm256_setzero_pd();
			for (unsigned e = p.pos[i]; e < p.pos[i + 1]; e++) {
				__m256d a = _mm256_set1_pd(p.vals[e]);
				double *x = p.x + (long)p.crd[e] * columns + c;
				for (int v = 0; v < 8; v++) sum[v] = _mm256_add_pd(sum[v], _mm256_mul_pd(a, _mm256_loadu_pd(x + 4 * v)));
			}
			double *y = p.y + i * columns + c;
			for (int v = 0; v < 8; v++)
				if (around) _mm256_stream_pd(y + 4 * v, sum[v]);
				else _mm256_storeu_pd(y + 4 * v, sum[v]);
		}
	_mm_sfence();
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int ascending(const void *a, const void *b) { return *(double *)a < *(double *)b ? -1 : 1; }

int main(int n, char **args) {
	long side = n > 1 ? atol(args[1]) : 1000, times = n > 2 ? atol(args[2]) : 10;
	double median[2][variants];
	for (int k = 0; k < 2; k++) {
		int ranks = k + 1;
		struct { pthread_barrier_t barrier; double took[variants][rounds]; } *s = mmap(0, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		pthread_barrierattr_t shared;
		pthread_barrierattr_init(&shared);
		pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
		pthread_barrier_init(&s->barrier, &shared, ranks);
		for (int r = 0; r < ranks; r++) {
			if (fork()) continue;
			cpu_set_t cpu;
			CPU_ZERO(&cpu);
			CPU_SET(r, &cpu);
			sched_setaffinity(0, sizeof cpu, &cpu);
			struct part p[2];
			for (int huge = 0; huge < 2; huge++) p[huge] = make(side, side * side * r / ranks, side * side * (r + 1) / ranks, huge);
			for (int t = 0; t < rounds; t++)
				for (int v = 0; v < variants; v++) {
					pthread_barrier_wait(&s->barrier);
					double start = now();
					for (long i = 0; i < times; i++)
						if (v & 1) product(p[v / 2], 1);
						else product(p[v / 2], 0);
					pthread_barrier_wait(&s->barrier);
					if (!r) s->took[v][t] = (now() - start) / times;
				}
			exit(0);
		}
		while (wait(0) > 0)
			;
		for (int v = 0; v < variants; v++) {
			qsort(s->took[v], rounds, sizeof(double), ascending);
			median[k][v] = s->took[v][rounds / 2];
		}
	}
	const char *names[] = {"plain stores", "stores round the caches", "plain stores, huge pages", "round the caches, huge pages"};
	for (int v = 0; v < variants; v++) printf("| %s | %.1f ms | %.1f ms | %.2f |\n", names[v], 1e3 * median[0][v], 1e3 * median[1][v], median[0][v] / median[1][v]);
}
