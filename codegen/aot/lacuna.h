/*
 * lacuna.h: the C interface of kernels that lacuna build has compiled.
 *
 * A kernel NAME is two functions (declared in the kernel's own header, NAME.h):
 *
 *     int NAME(lacuna_args *args);        runs it; memory comes from callbacks
 *     int NAME_step(lacuna_call *call);   runs until it needs memory, or is done
 *
 * Both take an array of tensors: the operands in the order of the header, then
 * the results. Kernels call nothing, not even the C library, allocate nothing,
 * never abort, and keep no state outside the call: any number of threads may
 * run one kernel at once, each with a call of its own. They check what the
 * structures say (ranks, formats, types, lengths, null pointers, extents), not
 * what the index arrays hold: those must be valid (pointers ascend, indices are
 * in range, sorted and unique).
 *
 * Every field of every structure is 8 bytes wide on the targets supported
 * (64-bit, little-endian), so that the layout is the same for every compiler.
 */
#ifndef LACUNA_H
#define LACUNA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever a structure or the meaning of a field does. */
#define LACUNA_ABI_VERSION 1

/* What functions return. Errors are negative. */
enum {
  LACUNA_OK = 0,
  LACUNA_NEED = 1,    /* step: provide the memory that call->need describes, then step again */
  LACUNA_RELEASE = 2, /* step: the memory at call->need.data is not used any more; step again */
  LACUNA_CHUNKS = 3,  /* step: run chunks 0 … call->chunks-1 with NAME_chunk, then step again */

  LACUNA_ERR_ABI = -1,      /* another LACUNA_ABI_VERSION than the kernel was built for */
  LACUNA_ERR_NULL = -2,     /* a pointer is null that must not be */
  LACUNA_ERR_COUNT = -3,    /* not as many tensors as the kernel takes */
  LACUNA_ERR_RANK = -4,     /* a tensor of another rank */
  LACUNA_ERR_FORMAT = -5,   /* a tensor of another format */
  LACUNA_ERR_TYPE = -6,     /* values of another type */
  LACUNA_ERR_WIDTH = -7,    /* pointers or indices of another type */
  LACUNA_ERR_EXTENT = -8,   /* an extent is negative, or more than the kernel was built for */
  LACUNA_ERR_SHAPE = -9,    /* extents that must agree differ, or a coordinate is out of range */
  LACUNA_ERR_LENGTH = -10,  /* an array is shorter than the extents and the levels before it ask for */
  LACUNA_ERR_ALIGN = -11,   /* an array is not aligned as its elements must be */
  LACUNA_ERR_OVERLAP = -12, /* memory of a result overlaps other memory of the call */
  LACUNA_ERR_FILL = -13,    /* an operand has another fill than the kernel was built for */
  LACUNA_ERR_SIZE = -14,    /* a size does not fit 63 bits */
  LACUNA_ERR_MEMORY = -15,  /* the memory needed was not provided */
  LACUNA_ERR_KERNEL = -16,  /* what the program computes has no value, such as a gather out of range */
  LACUNA_ERR_STOPPED = -17, /* the stop word was set */
  LACUNA_ERR_STATE = -18,   /* calls out of order, or a state that is too small or was not zeroed */
  LACUNA_ERR_UNKNOWN = -19  /* a code that this list does not have */
};

/* Types of elements. Half-precision and complex ones are those of NumPy. */
enum {
  LACUNA_NONE = 0, /* an array that is not there */
  LACUNA_BOOL = 1, /* one byte, 0 or 1 */
  LACUNA_I8 = 2, LACUNA_I16 = 3, LACUNA_I32 = 4, LACUNA_I64 = 5,
  LACUNA_U8 = 6, LACUNA_U16 = 7, LACUNA_U32 = 8, LACUNA_U64 = 9,
  LACUNA_F16 = 10, LACUNA_BF16 = 11, LACUNA_F32 = 12, LACUNA_F64 = 13,
  LACUNA_C64 = 14, LACUNA_C128 = 15 /* two f32, two f64: real, imaginary */
};

/*
 * An array: len elements of a type at data. An array of an operand is read
 * only, and has all of it: cap is not looked at.
 *
 * Of a result, a data that is not null is memory of the caller's for cap
 * elements. The kernel uses it if cap is enough, and asks for memory if not. In
 * the end data, len and type tell the result. Where data changed, the old memory
 * is still the caller's.
 */
typedef struct lacuna_array {
  void *data;
  int64_t len;  /* elements */
  int64_t cap;  /* elements that data has room for */
  int64_t type; /* LACUNA_U32, …; of a result it is set by the kernel */
} lacuna_array;

/*
 * One level of storage. A compressed level has pointers, one more than the level
 * before has positions (two, 0 and n, if it is the first), and indices; a
 * singleton level has indices; a dense level has neither. The header of a kernel
 * lists what each level of each tensor has.
 */
typedef struct lacuna_level {
  lacuna_array pointers;
  lacuna_array indices;
} lacuna_level;

typedef struct lacuna_tensor {
  int64_t rank;
  const char *format;   /* as in the kernel's header, such as "CSR"; null is not checked */
  int64_t *extents;     /* rank of them, by axis; of a result they are set by the kernel */
  lacuna_level *levels; /* rank of them, in storage order; may be null for an all dense tensor */
  lacuna_array values;
  /*
   * The value of elements that are not stored: one element of the type of
   * values. Of an operand, null means the one that the kernel was built for (of a
   * dense operand: zero). Of a result it is written, unless it is null.
   */
  void *fill;
} lacuna_tensor;

/* Who uses memory that a step needs. */
enum {
  LACUNA_RESULT = 0,   /* an array of a result: the caller's when the kernel is done */
  LACUNA_TEMPORARY = 1 /* not used any more when the kernel is done, or failed */
};

/* Whether memory must be zero. */
enum {
  LACUNA_ZERO = 1,
  LACUNA_ZERO_AGAIN = 2 /* and it is zero again when the run has returned LACUNA_OK: a caller who keeps it need not clear it */
};

/* Which array of a tensor. */
enum { LACUNA_POINTERS = 0, LACUNA_INDICES = 1, LACUNA_VALUES = 2 };

typedef struct lacuna_need {
  void *data;     /* to be set: aligned to 16 bytes at least, better to 64 */
  int64_t bytes;  /* at least 1 */
  int64_t zero;   /* LACUNA_ZERO, LACUNA_ZERO_AGAIN: it must be zero. The kernel sees to that, unless the caller does and sets 0 */
  int64_t role;   /* LACUNA_RESULT or LACUNA_TEMPORARY */
  int64_t tensor; /* of a result: its place in the array of tensors; else -1 */
  int64_t level;  /* of a result: of its pointers or indices; else -1 */
  int64_t array;  /* of a result: LACUNA_POINTERS, LACUNA_INDICES or LACUNA_VALUES; else -1 */
} lacuna_need;

/* Flags of a call. */
enum {
  LACUNA_FLAG_RELEASE = 1, /* return LACUNA_RELEASE for temporaries as soon as they are not used any more */
  LACUNA_FLAG_CHUNKS = 2   /* return LACUNA_CHUNKS where work can be shared among threads */
};

/*
 * A run of a kernel, step by step. All fields that are not set are zero. After
 * a step has returned LACUNA_OK or an error the run is over: another one needs
 * the state zeroed again.
 */
typedef struct lacuna_call {
  int64_t abi;   /* LACUNA_ABI_VERSION */
  int64_t flags; /* LACUNA_FLAG_… */
  int64_t count; /* of tensors */
  lacuna_tensor *tensors;
  int64_t *state;      /* NAME_STATE words, all zero before the first step */
  int64_t state_words; /* how many there are */
  const int32_t *stop; /* null, or a word that any thread may set to a negative number to stop the run */
  int64_t threads;     /* with LACUNA_FLAG_CHUNKS: how many threads run chunks, at least 1 */
  /* Set by the kernel: */
  lacuna_need need;
  int64_t chunks;       /* with LACUNA_CHUNKS: how many */
  int64_t stage;        /* the stage that runs, or failed, from 0 */
  int64_t tensor;       /* after an error: the tensor that it is about, or -1 */
  const char *message;  /* after an error: what was wrong, as a sentence; static memory */
} lacuna_call;

/*
 * A run of a kernel in one call. allocate returns memory aligned to 16 bytes at
 * least, or null if there is none; release takes back what allocate gave. The
 * memory of results is from allocate too, unless the caller gave arrays that are
 * large enough; it is the caller's after LACUNA_OK. After an error everything
 * allocated has been released, and the arrays of results are as they were.
 * allocate and release may be null if nothing has to be allocated.
 */
typedef struct lacuna_args {
  int64_t abi; /* LACUNA_ABI_VERSION */
  int64_t count;
  lacuna_tensor *tensors;
  void *(*allocate)(void *user, size_t bytes);
  void (*release)(void *user, void *data, size_t bytes);
  void *user;
  const int32_t *stop;
  /* Set by the kernel: */
  int64_t tensor;
  const char *message;
} lacuna_args;

/* A kernel, as lacuna_find of a library returns it. */
typedef struct lacuna_kernel {
  int64_t abi;
  const char *name;
  const char *program;   /* the source text */
  const char *signature; /* such as "A:CSR[f64] x:D[f64] y:D[f64]" */
  int64_t operands;
  int64_t results;
  int64_t state_words;
  int64_t stages;
  int (*run)(lacuna_args *);
  int (*step)(lacuna_call *);
  /*
   * Runs one chunk of the stage that a step returned LACUNA_CHUNKS for. Chunks may run in
   * any order and at once, each thread with a number of its own, 0 … threads-1.
   * An error is also kept in the call: the next step returns it.
   */
  int (*chunk)(lacuna_call *, int64_t chunk, int64_t thread);
} lacuna_kernel;

/* What a code of the first list means, in English; never null. */
static inline const char *lacuna_error_string(int code) {
  switch (code) {
  case LACUNA_OK: return "success";
  case LACUNA_NEED: return "memory is needed";
  case LACUNA_RELEASE: return "memory is not used any more";
  case LACUNA_CHUNKS: return "chunks are to be run";
  case LACUNA_ERR_ABI: return "the kernel was built for another version of lacuna.h";
  case LACUNA_ERR_NULL: return "a pointer is null";
  case LACUNA_ERR_COUNT: return "wrong number of tensors";
  case LACUNA_ERR_RANK: return "a tensor has another rank";
  case LACUNA_ERR_FORMAT: return "a tensor has another format";
  case LACUNA_ERR_TYPE: return "values have another type";
  case LACUNA_ERR_WIDTH: return "pointers or indices have another type";
  case LACUNA_ERR_EXTENT: return "an extent is out of range";
  case LACUNA_ERR_SHAPE: return "extents do not fit each other";
  case LACUNA_ERR_LENGTH: return "an array is too short";
  case LACUNA_ERR_ALIGN: return "an array is not aligned";
  case LACUNA_ERR_OVERLAP: return "memory of a result overlaps other memory";
  case LACUNA_ERR_FILL: return "an operand has another fill";
  case LACUNA_ERR_SIZE: return "a size does not fit 63 bits";
  case LACUNA_ERR_MEMORY: return "not enough memory";
  case LACUNA_ERR_KERNEL: return "the program has no result for these operands";
  case LACUNA_ERR_STOPPED: return "stopped";
  case LACUNA_ERR_STATE: return "calls out of order, or a state that was not zeroed";
  }
  return "unknown code";
}

#ifdef __cplusplus
}
#endif

#endif
