/* The first header of the C interface, as it was when ABI version 1 began: frozen, what the oldest
 * callers were compiled with. Never to be changed. */
/* The C interface of Axle's runtime: quantised linear layers, y = x W^T * scales + bias.
 *
 * Shapes are row-major: weights [n][k], x [m][k], y [m][n]. Nothing is printed, no environment is
 * read, no global state is kept. Every function may be called from any thread; one runtime used by
 * two threads at once is safe, the second call then runs without the pool. After fork() the child
 * may go on using its runtimes. Objects are freed by their `_destroy` only; linears before their
 * runtime. Memory handed in is copied where it has to outlive the call.
 *
 * Numbers that are not finite: a row of x that holds a NaN or an infinity gives a row of NaN, and
 * no other row is touched; weights, scales and bias must be finite. A row whose largest magnitude
 * is below 2^-100 counts as zero. */
#ifndef AXLE_RUNTIME_H
#define AXLE_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define AXLE_EXPORT __attribute__((visibility("default")))
#else
#define AXLE_EXPORT
#endif

/* Grows when a function or a struct changes in a way that old callers would notice. Structs begin
 * with their size, so that fields can be added at the end without that. */
#define AXLE_RUNTIME_ABI_VERSION 1

/* Plain integers, so that a value from a newer caller is an error and not undefined. */
typedef int32_t axle_status;
enum {
  AXLE_OK = 0,
  AXLE_BAD_ARGUMENT = 1, /* a shape, type, pointer or value that cannot be meant */
  AXLE_NO_MEMORY = 2,
  AXLE_UNSUPPORTED = 3, /* a kernel that this build lacks or this machine cannot run */
  AXLE_MISMATCH = 4     /* the self-test found a wrong result */
};

typedef struct axle_error {
  axle_status status;
  char message[252]; /* what is wrong and where, English, NUL-terminated */
} axle_error;

typedef int32_t axle_type;
enum { AXLE_FLOAT32 = 0, AXLE_BFLOAT16 = 1, AXLE_FLOAT16 = 2, AXLE_INT8 = 3 };

/* How activations enter the integer product. In both modes all sums are exact and the result is
 * the same, byte for byte, with every kernel and any number of threads. */
typedef int32_t axle_mode;
enum {
  /* Dynamic int8: each row of x symmetrically to [-127, 127] by its largest magnitude, rounding to
   * even, scale = max|x| / 127 (as torchao's int8 dynamic activations are by default). */
  AXLE_DA8W8 = 0,
  /* Weight-only int8: each row of x to 16 bits, [-32512, 32512]; finer than bfloat16 as long as no
   * element is 250 times larger than the rest. */
  AXLE_A16W8 = 1
};

typedef struct axle_runtime axle_runtime; /* a choice of kernels and a pool of sleeping threads */
typedef struct axle_linear axle_linear;   /* packed weights of one layer */

AXLE_EXPORT uint32_t axle_runtime_abi_version(void);
AXLE_EXPORT const char* axle_runtime_version(void);           /* "0.1.0" */
AXLE_EXPORT const char* axle_status_name(axle_status status); /* "bad_argument" */

/* --- kernels: one table, best first; the last one runs everywhere ----------------------------- */

typedef struct axle_kernel_info {
  size_t struct_size; /* in: sizeof(axle_kernel_info) */
  const char* name;
  int32_t built;     /* this library contains it */
  int32_t usable;    /* built, and this machine has all it requires */
  char missing[128]; /* the required capabilities that the machine lacks, space separated */
} axle_kernel_info;

AXLE_EXPORT size_t axle_kernel_count(void);
AXLE_EXPORT axle_status axle_kernel_at(size_t index, axle_kernel_info* info);

/* --- runtime ------------------------------------------------------------------------------------
 */

typedef struct axle_runtime_options {
  size_t struct_size;
  const char* kernel; /* force this kernel set; NULL or "": the best for each shape */
  int32_t threads;    /* 0: as many as CPUs this process may run on */
} axle_runtime_options;

/* `options` may be NULL. A forced kernel that cannot run is an error, never replaced. The
 * permission to use AMX tiles is asked of the system when a forward pass first needs it (or here
 * when forced); refused, the next kernel of the table takes over. */
AXLE_EXPORT axle_status axle_runtime_create(const axle_runtime_options* options, axle_runtime** out,
                                            axle_error* error);
AXLE_EXPORT void axle_runtime_destroy(axle_runtime* runtime);

/* The kernel that this runtime uses for x of `rows` rows in `mode`. */
AXLE_EXPORT const char* axle_runtime_kernel(axle_runtime* runtime, axle_mode mode, size_t rows);

/* Facts about the runtime as pairs, "kernel" = "avx512_vnni", in an order that may grow. Returns
 * AXLE_BAD_ARGUMENT when `index` is past the end; the value is cut to `size` bytes. */
AXLE_EXPORT axle_status axle_runtime_info(axle_runtime* runtime, size_t index, const char** key,
                                          char* value, size_t size);

/* Runs every usable kernel of the runtime on small shapes against plain sums in double. */
AXLE_EXPORT axle_status axle_runtime_selftest(axle_runtime* runtime, axle_error* error);

/* --- linear layers ------------------------------------------------------------------------------
 */

typedef struct axle_linear_options {
  size_t struct_size;
  axle_mode mode;
  axle_type
      weight_type;     /* AXLE_INT8 with scales; AXLE_FLOAT32: quantised here, by output channel */
  size_t n;            /* output features, at least 1 */
  size_t k;            /* input features, 1 to 131071 */
  const void* weights; /* [n][k] */
  const float* scales; /* [n] for AXLE_INT8, else NULL */
  const float* bias;   /* [n] or NULL */
} axle_linear_options;

AXLE_EXPORT axle_status axle_linear_create(axle_runtime* runtime,
                                           const axle_linear_options* options, axle_linear** out,
                                           axle_error* error);
AXLE_EXPORT void axle_linear_destroy(axle_linear* linear);

/* y[m][n] from x[m][k] of type float32, bfloat16 or float16, each aligned to its element. m may be
 * 0. x and y must not overlap. */
AXLE_EXPORT axle_status axle_linear_forward(axle_linear* linear, axle_type x_type, const void* x,
                                            size_t m, float* y, axle_error* error);

/* --- measuring ----------------------------------------------------------------------------------
 */

typedef struct axle_bench_options {
  size_t struct_size;
  axle_mode mode;
  size_t m, n, k;
  size_t weight_bytes; /* rotate through at least so many bytes of different weights; 0: 256 MiB */
  double seconds;      /* time to spend; 0: 0.5 */
} axle_bench_options;

typedef struct axle_bench_result {
  size_t struct_size;
  double microseconds;              /* best time of one forward pass, quantisation included */
  double gigabytes_per_second;      /* int8 weights read by it, 10^9 */
  double gigaops_per_second;        /* 2 m n k, 10^9 */
  double read_gigabytes_per_second; /* plain reads of as much memory, same threads, same run */
} axle_bench_result;

AXLE_EXPORT axle_status axle_runtime_bench(axle_runtime* runtime, const axle_bench_options* options,
                                           axle_bench_result* result, axle_error* error);

#ifdef __cplusplus
}
#endif
#endif
