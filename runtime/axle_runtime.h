/* The C interface of Axle's runtime: quantised linear layers, y = x W^T * scales + bias, and models
 * made of them.
 *
 * Shapes are row-major: weights [n][k], x [m][k], y [m][n]. Nothing is printed, no environment is
 * read, no global state is kept. Memory handed in is copied where it has to outlive the call.
 *
 * Threads: every function may be called from any thread, several at once on one object too, with
 * these exceptions. axle_runtime_load_tuning: while nothing else uses the runtime, its linears and
 * models included. The `_destroy` of an object: when nothing uses it any more, nor will. One
 * generation: one call at a time. Of two calls that want a runtime's threads at once the second
 * does without; of two that work on one model the second waits.
 *
 * fork(): the child may go on using what it inherits, except a model that a call was working on at
 * that moment: further calls that would work on it are AXLE_BAD_ARGUMENT in the child, which has to
 * open it again. So are those on layers of a device, and the child's own need a runtime of its own.
 *
 * Objects are freed by their `_destroy` only, which takes NULL as well: generations before their
 * model, linears and models before their runtime.
 *
 * Strings: a name that is returned or pointed to (a version, a status, a kernel, the key of a fact)
 * is valid as long as the library is loaded, and not to be freed. Strings handed in are UTF-8 and
 * end with a NUL; paths are what the system takes.
 *
 * Numbers that are not finite: a row of x that holds a NaN or an infinity gives a row of NaN, and
 * no other row is touched; weights, scales and bias must be finite. Finite ones may still give a y
 * beyond float's largest number, which is then an infinity, as with any product in float. A row
 * whose largest magnitude is below 2^-100 counts as zero. */
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

/* Grows when a function or a struct changes in a way that old callers would notice. A program works
 * with a library whose axle_runtime_abi_version() is the AXLE_RUNTIME_ABI_VERSION that it was
 * compiled with, and with no other; whether the library is newer or older does not matter then.
 *
 * New functions, and fields at the end of structs, come without a new version: structs begin with
 * their size, `struct_size = sizeof(the struct)`, set by the caller for those that the library
 * fills as well. Fields that the caller does not know count as zero, which always means what was
 * before they came; of a caller's fields that the library does not know none is read or written.
 * Zero a struct before its fields are set. A size below that of the struct's first version is
 * AXLE_BAD_ARGUMENT. */
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
  AXLE_MALFORMED = 6,   /* a file whose content is not what its format says */
  AXLE_DEVICE = 7       /* a device's driver failed at what it is asked to do */
};

/* `error` may be NULL everywhere. A call that succeeds leaves AXLE_OK and an empty message. */
typedef struct axle_error {
  axle_status status; /* what the function returned */
  /* What is wrong and where, in English: printable UTF-8, NUL-terminated. Of a long one the middle
   * is left out, that of the file's path first. */
  char message[252];
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
/* AXLE_BAD_ARGUMENT when `index` is past the end. */
AXLE_EXPORT axle_status axle_kernel_at(size_t index, axle_kernel_info* info);

/* --- runtime ------------------------------------------------------------------------------------
 */

typedef struct axle_runtime_options {
  size_t struct_size;
  const char* kernel; /* force this kernel set; NULL or "": the best for each shape */
  int32_t threads;    /* 0: as many as CPUs this process may run on; 256 at most, more is 256 */
} axle_runtime_options;

/* `options` may be NULL. A forced kernel that cannot run is an error, never replaced. The
 * permission to use AMX tiles is asked of the system when a forward pass first needs it (or here
 * when forced); refused, the next kernel of the table takes over. */
AXLE_EXPORT axle_status axle_runtime_create(const axle_runtime_options* options, axle_runtime** out,
                                            axle_error* error);
AXLE_EXPORT void axle_runtime_destroy(axle_runtime* runtime);

/* The kernel that this runtime uses by default for x of `rows` rows (0 counts as 1) in `mode`; ""
 * where the runtime is NULL or the mode unknown. What a table of axle_runtime_load_tuning says
 * depends on the layer: ask axle_linear_kernel. Where a forward pass would ask for the permission
 * to use tiles, so does this. */
AXLE_EXPORT const char* axle_runtime_kernel(axle_runtime* runtime, axle_mode mode, size_t rows);

/* Takes what `variant model tune` measured: which layers run faster in another way than by default.
 * `path` is such a table; NULL: axle_runtime_tuning.json beside this library. Results are the same
 * with and without one. Not while anything uses the runtime; it counts for all later passes.
 * AXLE_IO, AXLE_MALFORMED: nothing was taken; AXLE_UNSUPPORTED: the table is of a later version, or
 * says nothing of this machine, number of threads and build. Where a kernel is forced the table
 * does not count. */
AXLE_EXPORT axle_status axle_runtime_load_tuning(axle_runtime* runtime, const char* path,
                                                 axle_error* error);

/* Facts about the runtime as pairs, "kernel" = "avx512_vnni", in an order that may grow. Returns
 * AXLE_BAD_ARGUMENT when `index` is past the end. The value is ASCII and NUL-terminated; of one
 * that fills all `size` bytes with its NUL the end may be missing: ask again with more room. 256
 * bytes are enough for today's. "threads" is how many there are, the caller's included. */
AXLE_EXPORT axle_status axle_runtime_info(axle_runtime* runtime, size_t index, const char** key,
                                          char* value, size_t size);

/* Runs every usable kernel of the runtime on small shapes against plain sums in double. */
AXLE_EXPORT axle_status axle_runtime_selftest(axle_runtime* runtime, axle_error* error);

/* --- devices
 * --------------------------------------------------------------------------------------
 *
 * Beside the CPU a library may have kinds of devices, "cuda" and "opencl": which, depends on the
 * variant. Their drivers are loaded when they are first asked for, never with this library. A
 * device that is opened for a layer stays so until its runtime is destroyed. */

typedef struct axle_device_info {
  size_t struct_size;
  char name[32];  /* "cuda:0" */
  int32_t usable; /* nothing is known against it; code for it may still be missing */
  int32_t reserved;
  char description[128]; /* what it is, with its driver; empty where that is not known */
  char problem[252];     /* why it is not usable, and what to do; else empty */
} axle_device_info;

/* Of a kind without a device on this machine there is one entry, which says why. AXLE_BAD_ARGUMENT
 * when `index` is past the end. */
AXLE_EXPORT axle_status axle_device_at(size_t index, axle_device_info* info);

/* Runs the kernels of a device on small shapes, and compares with the CPU byte for byte. */
AXLE_EXPORT axle_status axle_device_selftest(axle_runtime* runtime, const char* device,
                                             axle_error* error);

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
  /* Where the weights lie and the layer is computed: NULL, "" or "cpu"; else the name of a device
   * as axle_device_at has it ("cuda:0"), or without its number ("cuda"), which means 0. Any mode
   * but AXLE_A16F8. Weights are quantised and packed on the CPU first. */
  const char* device;
} axle_linear_options;

AXLE_EXPORT axle_status axle_linear_create(axle_runtime* runtime,
                                           const axle_linear_options* options, axle_linear** out,
                                           axle_error* error);
AXLE_EXPORT void axle_linear_destroy(axle_linear* linear);

/* The kernel that axle_linear_forward uses for x of `rows` rows (0 counts as 1), tables of
 * axle_runtime_load_tuning included; "" where the linear is NULL. As axle_runtime_kernel, it may
 * ask for the permission to use tiles. */
AXLE_EXPORT const char* axle_linear_kernel(axle_linear* linear, size_t rows);

/* y[m][n] from x[m][k] of type float32, bfloat16 or float16, each aligned to its element. m may be
 * 0. x and y must not overlap. They lie in the CPU's memory; with device "cuda" either may also lie
 * in that of a GPU, where what writes x must have been enqueued on the legacy default stream, or
 * have ended. A layer on a device returns the same bytes as one on the CPU, and when it is done;
 * one call at a time works on a device. */
AXLE_EXPORT axle_status axle_linear_forward(axle_linear* linear, axle_type x_type, const void* x,
                                            size_t m, float* y, axle_error* error);

/* --- models -------------------------------------------------------------------------------------
 *
 * A GGUF file or the folder of one, or a folder of Hugging Face (config.json, safetensors,
 * tokenizer.json). One call at a time works on a model (generate, step, embed, rerank); others
 * wait.
 *
 * Functions that are handed in are called on the thread of the call that they were handed to, and
 * must return to it. on_progress is called while nothing can use the model yet. From a function
 * that takes tokens everything may be called but what works on the same model, which is
 * AXLE_BAD_ARGUMENT, and the `_destroy` of what the call uses. */

typedef struct axle_model axle_model;

typedef struct axle_model_options {
  size_t struct_size;
  /* Of linear layers: "a16w8", "da8w8", "a16w4", "da8w4", "fp8", "float"; NULL: that of a folder
   * whose weights are quantised already, which is its only one, else "a16w8". */
  const char* mode;
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
 * context, hidden, mode, kv_cache, weight_bytes (packed), cache_bytes (of 16 tokens of a text). */
AXLE_EXPORT axle_status axle_model_info(axle_model* model, size_t index, const char** key,
                                        char* value, size_t size);

/* The tokens of a text in UTF-8, up to its NUL; what is not UTF-8 counts as U+FFFD. A user's
 * message by the model's chat template, or with `raw` (and for encoders) the text as it is;
 * AXLE_UNSUPPORTED without `raw` where the model has no template or one that is not known.
 *
 * *count: in, room in `tokens`; out, the tokens that there are. Too little room is
 * AXLE_BAD_ARGUMENT, and the only error after which *count is larger than the room that was given;
 * any other leaves it. So the number is learnt with `tokens` NULL and *count 0. */
AXLE_EXPORT axle_status axle_model_tokens(axle_model* model, const char* text, int32_t raw,
                                          int32_t* tokens, size_t* count, axle_error* error);

/* The text of tokens in UTF-8, without control tokens and without a NUL at its end; U+FFFD stands
 * for what is not a character. *size: in, room in `text`; out, the bytes that there are. Too little
 * room is as with axle_model_tokens. */
AXLE_EXPORT axle_status axle_model_text(axle_model* model, const int32_t* tokens, size_t count,
                                        char* text, size_t* size, axle_error* error);

typedef struct axle_prompt {
  size_t struct_size;
  const int32_t* tokens;
  size_t count;
  size_t most_tokens; /* of the answer */
  double temperature; /* 0: the likeliest token, the rest counts for nothing */
  size_t top_k;       /* 0: all */
  double top_p;       /* 0 or 1: all */
  double min_p;       /* 0: all */
  uint64_t seed;
} axle_prompt;

/* Called with each token as it comes, not with the one that ends an answer. 0 stops that answer.
 * `prompt` is counted from 0, as it is in errors. */
typedef int32_t (*axle_on_token)(void* context, size_t prompt, int32_t token);

/* Answers `count` prompts together, each as it would be alone. All prompts are checked before the
 * first token comes; a model whose numbers overflow (AXLE_MALFORMED) and memory that ends
 * (AXLE_NO_MEMORY) are found later, so that tokens may come before an error. */
AXLE_EXPORT axle_status axle_model_generate(axle_model* model, const axle_prompt* const* prompts,
                                            size_t count, axle_on_token on_token, void* context,
                                            axle_error* error);

/* The same step by step, so that a caller may do other things between the steps. Destroy it before
 * its model; of several calls on one generation at a time the caller takes care. */
typedef struct axle_generation axle_generation;

typedef int32_t axle_ending;
enum {
  AXLE_RUNNING = 0,
  AXLE_END_TOKEN = 1,   /* the model ended it */
  AXLE_MOST_TOKENS = 2, /* `most_tokens` are there */
  AXLE_CONTEXT = 3,     /* the model's context is full */
  AXLE_STOPPED = 4      /* by the caller, or an error of a step */
};

typedef struct axle_answer {
  size_t struct_size;    /* in: sizeof(axle_answer) */
  const int32_t* tokens; /* so far; valid until the next step or _destroy of the generation */
  size_t count;
  /* UTF-8, NUL-terminated; without a character that is not yet whole. Valid until the next
   * axle_generation_answer for the same prompt, or the _destroy. */
  const char* text;
  size_t text_size; /* bytes before the NUL: a text may hold others */
  axle_ending ending;
  int32_t reserved;
} axle_answer;

AXLE_EXPORT axle_status axle_generation_create(axle_model* model, const axle_prompt* const* prompts,
                                               size_t count, axle_generation** out,
                                               axle_error* error);
AXLE_EXPORT void axle_generation_destroy(axle_generation* generation);

/* One piece of work: reads a part of a prompt, or adds a token to each answer that runs. *running:
 * whether any does. An error ends all of them. */
AXLE_EXPORT axle_status axle_generation_step(axle_generation* generation, int32_t* running,
                                             axle_error* error);

/* Ends one answer where it is. */
AXLE_EXPORT axle_status axle_generation_stop(axle_generation* generation, size_t prompt,
                                             axle_error* error);

AXLE_EXPORT axle_status axle_generation_answer(axle_generation* generation, size_t prompt,
                                               axle_answer* answer, axle_error* error);

/* Vectors of `count` texts: `vectors` has room for [count][hidden] floats, hidden as
 * axle_model_info has it. A vector is the mean of those of the text's tokens or that of its first
 * one, and brought to length 1 or not, as the model's folder says (modules.json,
 * 1_Pooling/config.json; without them the mean, of whatever length). A text is tokenised as by
 * axle_model_tokens; one that has more tokens than the model's context is AXLE_BAD_ARGUMENT, never
 * cut. Errors count texts from 0. After an error the contents of `vectors` are undefined. */
AXLE_EXPORT axle_status axle_model_embed(axle_model* model, const char* const* texts, size_t count,
                                         float* vectors, axle_error* error);

/* How well each of `count` texts answers a query, by a reranker: `scores` has room for `count`
 * floats. A score is the model's own number ("logit"), of any sign, higher is better; the same one
 * whichever other texts there are. AXLE_UNSUPPORTED if the model is no reranker (a
 * BertForSequenceClassification of one class); query and text together must fit the model's
 * context, they are never cut. Errors count pairs from 0. */
AXLE_EXPORT axle_status axle_model_rerank(axle_model* model, const char* query,
                                          const char* const* texts, size_t count, float* scores,
                                          axle_error* error);

/* --- measuring ----------------------------------------------------------------------------------
 */

typedef struct axle_bench_options {
  size_t struct_size;
  axle_mode mode;
  size_t m, n, k;
  size_t weight_bytes;  /* rotate through at least so many bytes of different weights; 0: 256 MiB */
  double seconds;       /* time to spend, up to 86400; 0: 0.5 */
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
  const char* kernel;               /* that ran; a caller without this field goes without */
} axle_bench_result;

AXLE_EXPORT axle_status axle_runtime_bench(axle_runtime* runtime, const axle_bench_options* options,
                                           axle_bench_result* result, axle_error* error);

#ifdef __cplusplus
}
#endif
#endif
