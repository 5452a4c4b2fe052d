/*
 * Two kernels that lacuna build has compiled, called from C:
 *
 *     lacuna build 'y(i) = A(i,j)*x(j)' A:CSR --name spmv -o spmv.o -o spmv.h
 *     lacuna build 'C(i,j) = A(i,j) + B(i,j)' A:CSR B:CSR --name add -o add.o -o add.h
 *     gcc -O2 main.c spmv.o add.o -o main && ./main
 */
#include "add.h"
#include "spmv.h"

#include <stdio.h>
#include <stdlib.h>

/* What a kernel gets its memory from. */
static void *allocate(void *user, size_t bytes) {
  (void)user;
  return malloc(bytes);
}

static void release(void *user, void *data, size_t bytes) {
  (void)user;
  (void)bytes;
  free(data);
}

/* The matrix
 *     1 . 2
 *     . . .
 *     . 3 4
 */
static uint32_t pointers[] = {0, 2, 2, 4};
static uint32_t indices[] = {0, 2, 1, 2};
static double values[] = {1, 2, 3, 4};

static lacuna_array array(void *data, int64_t len, int64_t type) {
  lacuna_array a = {data, len, len, type};
  return a;
}

static lacuna_tensor csr(int64_t *extents, lacuna_level *levels) {
  lacuna_tensor t = {2, "CSR", extents, levels, {0}, NULL};
  t.values = array(values, 4, LACUNA_F64);
  levels[1].pointers = array(pointers, 4, LACUNA_U32);
  levels[1].indices = array(indices, 4, LACUNA_U32);
  return t;
}

static int report(const char *what, int status, const char *message) {
  if (status < 0)
    fprintf(stderr, "%s: %s: %s\n", what, lacuna_error_string(status), message ? message : "");
  return status;
}

/* y = A x into memory of our own: nothing is allocated, so there are no callbacks. */
static int multiply(void) {
  int64_t shape[] = {3, 3}, n[] = {3}, m[1];
  lacuna_level levels[2] = {0};
  double x[] = {1, 10, 100}, y[3];
  lacuna_tensor tensors[spmv_COUNT] = {
      [spmv_A] = csr(shape, levels),
      [spmv_x] = {1, "D", n, NULL, array(x, 3, LACUNA_F64), NULL},
      [spmv_y] = {1, "D", m, NULL, {y, 0, 3, 0}, NULL},
  };
  lacuna_args args = {.abi = LACUNA_ABI_VERSION, .count = spmv_COUNT, .tensors = tensors};
  int status = report("spmv", spmv(&args), args.message);
  if (status == LACUNA_OK)
    printf("y = %g %g %g\n", y[0], y[1], y[2]);
  return status;
}

static void print(const lacuna_tensor *c) {
  const uint32_t *p = c->levels[1].pointers.data;
  const uint32_t *j = c->levels[1].indices.data;
  const double *v = c->values.data;
  for (int64_t i = 0; i < c->extents[0]; i++)
    for (uint32_t k = p[i]; k < p[i + 1]; k++)
      printf("C(%d,%d) = %g\n", (int)i, (int)j[k], v[k]);
}

/* C = A + A: nobody knows beforehand how many entries C has, so the kernel allocates. */
static int add_allocating(void) {
  int64_t shape[] = {3, 3}, result[2];
  lacuna_level a[2] = {0}, b[2] = {0}, c[2] = {0};
  lacuna_tensor tensors[add_COUNT] = {
      [add_A] = csr(shape, a), [add_B] = csr(shape, b), [add_C] = {2, "CSR", result, c, {0}, NULL}};
  lacuna_args args = {LACUNA_ABI_VERSION, add_COUNT, tensors, allocate, release, NULL, NULL, 0, NULL};
  int status = report("add", add(&args), args.message);
  if (status == LACUNA_OK) {
    print(&tensors[add_C]);
    free(c[1].pointers.data);
    free(c[1].indices.data);
    free(tensors[add_C].values.data);
  }
  return status;
}

/* The same in steps: the kernel says what it needs, and we provide it. */
static int add_in_steps(void) {
  int64_t shape[] = {3, 3}, result[2], state[add_STATE] = {0};
  lacuna_level a[2] = {0}, b[2] = {0}, c[2] = {0};
  lacuna_tensor tensors[add_COUNT] = {
      [add_A] = csr(shape, a), [add_B] = csr(shape, b), [add_C] = {2, "CSR", result, c, {0}, NULL}};
  lacuna_call call = {.abi = LACUNA_ABI_VERSION, .count = add_COUNT, .tensors = tensors,
                      .state = state, .state_words = add_STATE};
  void *blocks[16];
  int used = 0, status;
  while ((status = add_step(&call)) == LACUNA_NEED && used < 16) {
    printf("needs %d bytes for %s\n", (int)call.need.bytes,
           call.need.role == LACUNA_TEMPORARY ? "a temporary"
           : call.need.array == LACUNA_POINTERS ? "pointers"
           : call.need.array == LACUNA_INDICES  ? "indices"
                                                : "values");
    call.need.data = blocks[used++] = malloc(call.need.bytes);
  }
  if (report("add_step", status, call.message) == LACUNA_OK)
    print(&tensors[add_C]);
  while (used > 0)
    free(blocks[--used]);
  return status;
}

/* What is wrong with the arguments is an error with a sentence, never a crash. */
static int mistake(void) {
  int64_t shape[] = {3, 3}, n[] = {4}, m[1];
  lacuna_level levels[2] = {0};
  double x[] = {1, 10, 100, 1000}, y[3];
  lacuna_tensor tensors[spmv_COUNT] = {
      [spmv_A] = csr(shape, levels),
      [spmv_x] = {1, "D", n, NULL, array(x, 4, LACUNA_F64), NULL},
      [spmv_y] = {1, "D", m, NULL, {y, 0, 3, 0}, NULL},
  };
  lacuna_args args = {.abi = LACUNA_ABI_VERSION, .count = spmv_COUNT, .tensors = tensors};
  int status = spmv(&args);
  printf("a vector too long: %s (%s)\n", lacuna_error_string(status), args.message);
  return status == LACUNA_ERR_SHAPE ? 0 : 1;
}

int main(void) {
  return multiply() || add_allocating() || add_in_steps() || mistake();
}
