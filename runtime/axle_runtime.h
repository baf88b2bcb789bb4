/* The C interface of Axle's runtime: quantised linear layers, y = x W^T * scales + bias, and models
 * made of them.
 *
 * Shapes are row-major: weights [n][k], x [m][k], y [m][n]. Nothing is printed, no environment is
 * read, no global state is kept. Every function may be called from any thread; one runtime used by
 * two threads at once is safe, the second call then runs without the pool. After fork() the child
 * may go on using its runtimes. Objects are freed by their `_destroy` only; linears and models
 * before their runtime. Memory handed in is copied where it has to outlive the call.
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
  AXLE_MISMATCH = 4,    /* the self-test found a wrong result */
  AXLE_IO = 5,          /* a file or folder that is not there or cannot be read or written */
  AXLE_MALFORMED = 6    /* a file whose content is not what its format says */
};

typedef struct axle_error {
  axle_status status;
  char message[252]; /* what is wrong and where, English, NUL-terminated */
} axle_error;

typedef int32_t axle_type;
enum {
  AXLE_FLOAT32 = 0,
  AXLE_BFLOAT16 = 1,
  AXLE_FLOAT16 = 2,
  AXLE_INT8 = 3,
  AXLE_FLOAT8 = 4 /* e4m3 of OCP's specification: largest 448, no infinity */
};

/* How activations and weights enter the product. The result is the same, byte for byte, with every
 * kernel, any number of threads, and whatever other rows are computed with a row: integer sums are
 * exact, and what is summed in float has one order. */
typedef int32_t axle_mode;
enum {
  /* Dynamic int8: each row of x symmetrically to [-127, 127] by its largest magnitude, rounding to
   * even, scale = max|x| / 127 (as torchao's int8 dynamic activations are by default). */
  AXLE_DA8W8 = 0,
  /* Weight-only int8: each row of x to 16 bits, [-32512, 32512]; finer than bfloat16 as long as no
   * element is 250 times larger than the rest. */
  AXLE_A16W8 = 1,
  /* Weight-only int4, a scale for each `group` of weights; x as in AXLE_A16W8. */
  AXLE_A16W4 = 2,
  /* int4 weights; x as in AXLE_DA8W8. */
  AXLE_DA8W4 = 3,
  /* Weights in float8, x rounded to bfloat16, each row at its own power of two. */
  AXLE_A16F8 = 4
};

/* How the scales of int4 weights are chosen when they are made of float32 weights; and whether
 * there are two levels of them. */
typedef int32_t axle_scaling;
enum {
  /* A scale of bfloat16 a group: the weight of the largest magnitude near -8, where exactly by the
   * least squared error of nine scales. */
  AXLE_SEARCHED = 0,
  AXLE_ABSMAX = 1, /* the largest magnitude on 7 */
  AXLE_MSE = 2,    /* positive, the least squared error of twenty scales */
  /* A scale a channel, and for each 32 weights a factor of 1 to 15 to it: sums stay in integers
   * over all of k, which makes groups of 32 as fast as larger ones. */
  AXLE_TWO_LEVEL = 3
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

/* The kernel that this runtime uses for x of `rows` rows in `mode`. Where a forward pass would ask
 * for the permission to use tiles, so does this. */
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
  /* AXLE_FLOAT32: quantised here, without scales. Else with scales: AXLE_INT8, in the int4 modes
   * each in [-8, 7]; AXLE_FLOAT8 in AXLE_A16F8. */
  axle_type weight_type;
  size_t n;            /* output features, at least 1 */
  size_t k;            /* input features, 1 to 131071 */
  const void* weights; /* [n][k] */
  /* [n]; in the int4 modes [n][k / group rounded up], rounded to bfloat16, below 2^-100 zero, and
   * [n] again with AXLE_TWO_LEVEL. NULL for AXLE_FLOAT32. */
  const float* scales;
  const float* bias; /* [n] or NULL */
  /* The int4 modes only; a caller without these fields gets zeros. */
  size_t group;           /* 32, 64 or 128; 0: 128, and with AXLE_TWO_LEVEL 32, its only one */
  axle_scaling scaling;   /* with AXLE_INT8, AXLE_TWO_LEVEL or 0 */
  int32_t reserved;       /* 0 */
  const uint8_t* factors; /* [n][k / 32 rounded up], 1 to 15: AXLE_INT8 with AXLE_TWO_LEVEL */
} axle_linear_options;

AXLE_EXPORT axle_status axle_linear_create(axle_runtime* runtime,
                                           const axle_linear_options* options, axle_linear** out,
                                           axle_error* error);
AXLE_EXPORT void axle_linear_destroy(axle_linear* linear);

/* y[m][n] from x[m][k] of type float32, bfloat16 or float16, each aligned to its element. m may be
 * 0. x and y must not overlap. */
AXLE_EXPORT axle_status axle_linear_forward(axle_linear* linear, axle_type x_type, const void* x,
                                            size_t m, float* y, axle_error* error);

/* --- models -------------------------------------------------------------------------------------
 *
 * A GGUF file, or a folder of Hugging Face (config.json, safetensors, tokenizer.json). One call at
 * a time works on a model; others wait. */

typedef struct axle_model axle_model;

typedef struct axle_model_options {
  size_t struct_size;
  const char*
      mode; /* of linear layers: "a16w8", "da8w8", "a16w4", "da8w4", "fp8", "float"; NULL: that of
               a folder whose weights are quantised already, which is its only one, else "a16w8" */
  const char* kv_cache; /* "float16" (NULL; "float32" in mode float), "int8", "float32" */
  void (*on_progress)(void* context, double part); /* of the weights, 0 to 1; may be NULL */
  void* context;
} axle_model_options;

/* `options` may be NULL. Weights are quantised and packed here; the file stays open. Destroy the
 * model before its runtime. */
AXLE_EXPORT axle_status axle_model_open(axle_runtime* runtime, const char* path,
                                        const axle_model_options* options, axle_model** out,
                                        axle_error* error);
AXLE_EXPORT void axle_model_destroy(axle_model* model);

/* Facts as axle_runtime_info has them: type, architecture ("decoder" or "encoder"), vocabulary,
 * context, hidden, mode, kv_cache. */
AXLE_EXPORT axle_status axle_model_info(axle_model* model, size_t index, const char** key,
                                        char* value, size_t size);

/* The tokens of a text in UTF-8: a user's message by the model's chat template, or with `raw` (and
 * for encoders) the text as it is. *count: in, room in `tokens`; out, the tokens that there are.
 * Too little room is AXLE_BAD_ARGUMENT. */
AXLE_EXPORT axle_status axle_model_tokens(axle_model* model, const char* text, int32_t raw,
                                          int32_t* tokens, size_t* count, axle_error* error);

/* The text of tokens, without control tokens and without a NUL; its end may be a part of a
 * character. *size: in, room in `text`; out, the bytes that there are. */
AXLE_EXPORT axle_status axle_model_text(axle_model* model, const int32_t* tokens, size_t count,
                                        char* text, size_t* size, axle_error* error);

typedef struct axle_prompt {
  size_t struct_size;
  const int32_t* tokens;
  size_t count;
  size_t most_tokens; /* of the answer */
  double temperature; /* 0: the likeliest token, the rest counts for nothing */
  size_t top_k;       /* 0: all */
  double top_p;       /* 1: all */
  double min_p;       /* 0: all */
  uint64_t seed;
} axle_prompt;

/* Called with each token as it comes, not with the one that ends an answer. 0 stops that answer. */
typedef int32_t (*axle_on_token)(void* context, size_t prompt, int32_t token);

/* Answers `count` prompts together, each as it would be alone. */
AXLE_EXPORT axle_status axle_model_generate(axle_model* model, const axle_prompt* const* prompts,
                                            size_t count, axle_on_token on_token, void* context,
                                            axle_error* error);

/* Vectors [count][hidden] of `count` texts. */
AXLE_EXPORT axle_status axle_model_embed(axle_model* model, const char* const* texts, size_t count,
                                         float* vectors, axle_error* error);

/* --- measuring ----------------------------------------------------------------------------------
 */

typedef struct axle_bench_options {
  size_t struct_size;
  axle_mode mode;
  size_t m, n, k;
  size_t weight_bytes;  /* rotate through at least so many bytes of different weights; 0: 256 MiB */
  double seconds;       /* time to spend; 0: 0.5 */
  size_t group;         /* as in axle_linear_options */
  axle_scaling scaling; /* likewise */
  int32_t reserved;     /* 0 */
} axle_bench_options;

typedef struct axle_bench_result {
  size_t struct_size;
  double microseconds;              /* best time of one forward pass, quantisation included */
  double gigabytes_per_second;      /* weights and their scales read by it, 10^9 */
  double gigaops_per_second;        /* 2 m n k, 10^9 */
  double read_gigabytes_per_second; /* plain reads of as much memory, same threads, same run */
} axle_bench_result;

AXLE_EXPORT axle_status axle_runtime_bench(axle_runtime* runtime, const axle_bench_options* options,
                                           axle_bench_result* result, axle_error* error);

#ifdef __cplusplus
}
#endif
#endif
