// What a product of sparse matrices with rows in any order can take, beside the ways of SciPy and of lower/resultwork.go: A·A of a five-point
// Laplacian (side given, 500) and of a random matrix of 20,000 rows of 16.
//
//	gcc -O3 -march=native -o /tmp/spgemm bench/c/spgemm.c && /tmp/spgemm
//
// "list" counts entries first, then adds up in a dense row with a list of the columns in use (Gustavson, as SciPy does); "numbers" appends to
// the result and keeps for each column the number of its entry, with room for all products; "count" is the counting pass by numbers, which is
// needed where that room would be too much. Processor time in ms, least of 9.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int64_t i64;
static i64 n, *number, *end;
static uint32_t *pos, *crd, *out_crd;
static int32_t *next;
static double *val, *out_val, *sums;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

#define EACH_PRODUCT(i)                                   \
	for (uint32_t p = pos[i]; p < pos[i + 1]; p++)    \
		for (uint32_t q = pos[crd[p]]; q < pos[crd[p] + 1]; q++)

static i64 count(void) {
	i64 total = 0;
	memset(number, 0, n * 8);
	for (i64 i = 0; i < n; i++) {
		EACH_PRODUCT(i) {
			total += number[crd[q]] != i + 1;
			number[crd[q]] = i + 1;
		}
		end[i] = total;
	}
	return total;
}

static i64 list(void) {
	count();
	for (i64 j = 0; j < n; j++) next[j] = -1, sums[j] = 0;
	i64 at = 0;
	for (i64 i = 0; i < n; i++) {
		int32_t head = -2, entries = 0;
		EACH_PRODUCT(i) {
			uint32_t j = crd[q];
			sums[j] += val[p] * val[q];
			if (next[j] == -1) next[j] = head, head = j, entries++;
		}
		for (; entries > 0; entries--, at++) {
			int32_t j = head;
			out_crd[at] = j, out_val[at] = sums[j];
			head = next[j], next[j] = -1, sums[j] = 0;
		}
	}
	return at;
}

static i64 numbers(void) {
	static const double zero;
	i64 at = 0;
	memset(number, 0, n * 8);
	for (i64 i = 0; i < n; i++) {
		i64 before = at;
		EACH_PRODUCT(i) {
			uint32_t j = crd[q];
			int known = number[j] > before;
			i64 e = known ? number[j] - 1 : at;
			number[j] = e + 1, out_crd[e] = j;
			out_val[e] = *(known ? &out_val[e] : &zero) + val[p] * val[q];
			at += !known;
		}
		end[i] = at;
	}
	return at;
}

static void measure(const char *what) {
	i64 products = 0;
	for (i64 i = 0; i < n; i++) EACH_PRODUCT(i) products++;
	number = calloc(n, 8), end = calloc(n, 8), next = calloc(n, 4), sums = calloc(n, 8);
	out_crd = malloc(products * 4), out_val = malloc(products * 8);
	memset(out_crd, 1, products * 4), memset(out_val, 1, products * 8);
	i64 (*ways[])(void) = {list, numbers, count};
	double least[] = {1e9, 1e9, 1e9};
	i64 entries = 0;
	for (int r = 0; r < 9; r++)
		for (int w = 0; w < 3; w++) {
			double t = now();
			entries = ways[w]();
			if ((t = now() - t) < least[w]) least[w] = t;
		}
	printf("%s: %ld products, %ld entries: list %.1f, numbers %.1f, count %.1f\n", what, (long)products, (long)entries, least[0], least[1], least[2]);
}

int main(int argc, char **argv) {
	i64 side = argc > 1 ? atol(argv[1]) : 500, m = 0;
	n = side * side;
	pos = malloc((n + 1) * 4), crd = malloc(5 * n * 4), val = malloc(5 * n * 8);
	for (i64 i = pos[0] = 0; i < n; i++) {
		i64 x = i % side, near[] = {i - side, i - 1, i, i + 1, i + side};
		int is[] = {i >= side, x > 0, 1, x < side - 1, i < n - side};
		for (int k = 0; k < 5; k++)
			if (is[k]) crd[m] = near[k], val[m++] = k == 2 ? 4 : -1;
		pos[i + 1] = m;
	}
	measure("five-point Laplacian");
	n = 20000, m = 0;
	crd = malloc(16 * n * 4), val = malloc(16 * n * 8);
	uint64_t x = 1;
	for (i64 i = pos[0] = 0; i < n; i++) {
		for (int k = 0; k < 16; k++, m++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			crd[m] = (uint32_t)(i64)(n / 16 * k + (x >> 33) % (n / 16)), val[m] = 1;
		}
		pos[i + 1] = m;
	}
	measure("16 random entries in a row");
}
