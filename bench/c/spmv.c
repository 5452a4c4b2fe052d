// The loop that a C programmer writes for y = A*x, A in CSR with 32-bit indices,
// rows lo to hi-1. It is what the generated code is measured against.

#include <stdint.h>

void spmv(int64_t lo, int64_t hi, const uint32_t *restrict pos, const uint32_t *restrict crd,
          const double *restrict vals, const double *restrict x, double *restrict y) {
	for (int64_t i = lo; i < hi; i++) {
		double sum = 0;
		for (uint32_t p = pos[i]; p < pos[i + 1]; p++)
			sum += vals[p] * x[crd[p]];
		y[i] = sum;
	}
}
