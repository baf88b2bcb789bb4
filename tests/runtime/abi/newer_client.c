/* A caller of a later header, whose structs are longer than the library knows: it uses what it knows and leaves the rest alone. */
#include <stdio.h>
#include <string.h>

#include "runtime/axle_runtime.h"

enum { OUT = 2, IN = 4, LATER = 64, LATER_BYTE = 0x5A };

/* What a later release may have added at the end. */
#define LONGER(type)            \
  struct {                      \
    type known;                 \
    unsigned char later[LATER]; \
  }
#define MAKE_LONGER(name)                            \
  do {                                               \
    memset(&(name), 0, sizeof(name));                \
    memset((name).later, LATER_BYTE, LATER);         \
    (name).known.struct_size = sizeof(name);         \
  } while (0)

static int failed = 0;

static void check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "does not hold: %s\n", what);
  failed = 1;
}

static void check_later(const unsigned char* later, const char* what) {
  int same = 1;
  for (int i = 0; i < LATER; ++i) same = same && later[i] == LATER_BYTE;
  check(same, what);
}

static void use_layer(axle_runtime* runtime) {
  const int8_t weights[OUT * IN] = {1, 2, 3, 4, -1, -2, -3, -4};
  const float scales[OUT] = {1, 2};
  const float x[IN] = {1, 1, 1, 1};
  float y[OUT] = {0, 0};
  LONGER(axle_linear_options) options;
  MAKE_LONGER(options);
  options.known.mode = AXLE_A16W8;
  options.known.weight_type = AXLE_INT8;
  options.known.n = OUT;
  options.known.k = IN;
  options.known.weights = weights;
  options.known.scales = scales;
  axle_linear* linear = NULL;
  axle_error error;
  check(axle_linear_create(runtime, &options.known, &linear, &error) == AXLE_OK, "a layer is packed");
  if (linear == NULL) return;
  check(axle_linear_forward(linear, AXLE_FLOAT32, x, 1, y, &error) == AXLE_OK, "it runs");
  check(y[0] > 9.99F && y[0] < 10.01F && y[1] > -20.01F && y[1] < -19.99F, "y is right");
  axle_linear_destroy(linear);
}

static void use_bench(axle_runtime* runtime) {
  LONGER(axle_bench_options) options;
  LONGER(axle_bench_result) result;
  MAKE_LONGER(options);
  MAKE_LONGER(result);
  options.known.mode = AXLE_A16W4;
  options.known.m = 1;
  options.known.n = 64;
  options.known.k = 64;
  options.known.weight_bytes = 8192;
  options.known.seconds = 0.001;
  axle_error error;
  check(axle_runtime_bench(runtime, &options.known, &result.known, &error) == AXLE_OK, "the bench runs");
  check(result.known.microseconds > 0, "it measures");
  check_later(result.later, "the later fields of a result are left alone");
}

/* The structs of models are looked at before the file, so that none is needed here. */
static void use_model(axle_runtime* runtime) {
  LONGER(axle_model_options) options;
  MAKE_LONGER(options);
  axle_model* model = NULL;
  axle_error error;
  check(axle_model_open(runtime, "/nonexistent/model", &options.known, &model, &error) == AXLE_IO &&
            strstr(error.message, "/nonexistent/model") != NULL,
        "the file is missing, not a field");
  options.known.struct_size = sizeof(size_t);
  check(axle_model_open(runtime, "/nonexistent/model", &options.known, &model, &error) ==
            AXLE_BAD_ARGUMENT,
        "options that are cut short are refused");
}

int main(void) {
  LONGER(axle_kernel_info) info;
  MAKE_LONGER(info);
  check(axle_kernel_at(0, &info.known) == AXLE_OK && info.known.name != NULL, "a kernel is described");
  check_later(info.later, "the later fields of a description are left alone");
  LONGER(axle_runtime_options) options;
  MAKE_LONGER(options);
  options.known.threads = 1;
  axle_runtime* runtime = NULL;
  axle_error error;
  check(axle_runtime_create(&options.known, &runtime, &error) == AXLE_OK, "a runtime is made");
  if (runtime == NULL) return 1;
  use_layer(runtime);
  use_bench(runtime);
  use_model(runtime);
  axle_runtime_destroy(runtime);
  return failed;
}
