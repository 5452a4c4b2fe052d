/*
 * Runs a kernel of many allocations with an allocator that fails at the first, the second, …
 * request: each time everything must have been released and the result be as it was.
 */
#include "matmul.h"
#include "seven.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct counter {
  int left; /* requests that succeed */
  int held; /* blocks */
  size_t bytes;
};

static void *allocate(void *user, size_t bytes) {
  struct counter *c = user;
  if (c->left-- <= 0)
    return NULL;
  c->held++;
  c->bytes += bytes;
  void *p = malloc(bytes);
  memset(p, 0xA5, bytes); /* nothing may rely on zeros that it has not asked for */
  return p;
}

static void release(void *user, void *data, size_t bytes) {
  struct counter *c = user;
  c->held--;
  c->bytes -= bytes;
  free(data);
}

static uint32_t pointers[] = {0, 2, 2, 4};
static uint32_t indices[] = {0, 2, 1, 2};
static double values[] = {1, 2, 3, 4};

static lacuna_tensor csr(int64_t *extents, lacuna_level *levels) {
  lacuna_tensor t = {2, NULL, extents, levels, {values, 4, 4, LACUNA_F64}, NULL};
  levels[1].pointers = (lacuna_array){pointers, 4, 4, LACUNA_U32};
  levels[1].indices = (lacuna_array){indices, 4, 4, LACUNA_U32};
  return t;
}

static int run(int left, double *small, int quiet) {
  int64_t shape[] = {3, 3}, result[2];
  lacuna_level a[2] = {0}, b[2] = {0}, c[2] = {0};
  struct counter counter = {left, 0, 0};
  lacuna_tensor tensors[] = {csr(shape, a), csr(shape, b), {2, "CSR", result, c, {0}, NULL}};
  double fill = 7;
  tensors[2].fill = &fill;
  tensors[2].values.data = small; /* too small: the kernel has to ask */
  tensors[2].values.cap = 1;
  lacuna_args args = {LACUNA_ABI_VERSION, 3, tensors, allocate, release, &counter, NULL, 0, NULL};
  int status = matmul(&args);
  if (status == LACUNA_OK) {
    double *v = tensors[2].values.data;
    if (!quiet)
      printf("%d entries, %d blocks, fill %g:", (int)tensors[2].values.len, counter.held, fill);
    double sum = 0;
    for (int k = 0; k < tensors[2].values.len; k++)
      sum += v[k];
    if (!quiet)
      printf(" sum %g\n", sum);
    free(c[1].pointers.data);
    free(c[1].indices.data);
    free(v);
    return counter.held == 3 && sum == 45 ? 0 : 100;
  }
  if (status != LACUNA_ERR_MEMORY || counter.held != 0 || counter.bytes != 0 || tensors[2].values.data != small ||
      tensors[2].values.cap != 1 || c[1].pointers.data || c[1].indices.data)
    return 101;
  return 1; /* as it should be */
}

/* One kernel on several threads at once, each with a call of its own. */
static void *many(void *small) {
  for (int i = 0; i < 2000; i++)
    if (run(1000, small, 1) != 0)
      return "wrong";
  return NULL;
}

int main(void) {
  double small[1] = {0};
  int left = 0, r;
  while ((r = run(left, small, 0)) == 1)
    left++;
  printf("needs %s allocations\n", left > 3 ? "several" : "few");
  if (r != 0)
    return r;
  pthread_t threads[4];
  double memory[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, many, &memory[i]);
  int bad = 0;
  for (int i = 0; i < 4; i++) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    bad |= wrong != NULL;
  }
  /* A kernel without operands, whose result is a number. */
  double seven_value = 0;
  lacuna_tensor t[1] = {{0, "D", NULL, NULL, {&seven_value, 0, 1, 0}, NULL}};
  lacuna_args args = {.abi = LACUNA_ABI_VERSION, .count = 1, .tensors = t};
  r = seven(&args);
  printf("%d %g\n", r, seven_value);
  printf("%d %d\n", matmul(NULL), matmul_step(NULL));
  return bad;
}
