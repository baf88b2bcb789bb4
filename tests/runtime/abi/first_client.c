/* A caller compiled with the first header, on today's library: every function that it knew does what it did. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "first_axle_runtime.h"

enum { ROWS = 3, OUT = 5, IN = 40 };

static int failed = 0;

static void check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "does not hold: %s\n", what);
  failed = 1;
}

static double expected(const float* x, const int8_t* weights, const float* scales,
                       const float* bias, int i, int j) {
  double sum = 0;
  for (int k = 0; k < IN; ++k) sum += (double)x[i * IN + k] * weights[j * IN + k];
  return sum * scales[j] + bias[j];
}

static void use_layer(axle_runtime* runtime, axle_mode mode, double error_cap) {
  int8_t weights[OUT * IN];
  float scales[OUT], bias[OUT], x[ROWS * IN], y[ROWS * OUT];
  for (int i = 0; i < OUT * IN; ++i) weights[i] = (int8_t)((i * 37) % 255 - 127);
  for (int i = 0; i < OUT; ++i) {
    scales[i] = 0.01F * (float)(i + 1);
    bias[i] = (float)i - 2;
  }
  for (int i = 0; i < ROWS * IN; ++i) x[i] = (float)((i * 29) % 101 - 50) / 50;

  axle_linear_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.mode = mode;
  options.weight_type = AXLE_INT8;
  options.n = OUT;
  options.k = IN;
  options.weights = weights;
  options.scales = scales;
  options.bias = bias;
  axle_linear* linear = NULL;
  axle_error error;
  check(axle_linear_create(runtime, &options, &linear, &error) == AXLE_OK, "a layer is packed");
  if (linear == NULL) return;
  check(axle_linear_forward(linear, AXLE_FLOAT32, x, ROWS, y, &error) == AXLE_OK, "it runs");
  for (int i = 0; i < ROWS; ++i) {
    for (int j = 0; j < OUT; ++j) {
      const double right = expected(x, weights, scales, bias, i, j);
      check(fabs(y[i * OUT + j] - right) < error_cap, "y is x W^T * scales + bias");
    }
  }
  axle_linear_destroy(linear);

  options.struct_size = 8;
  check(axle_linear_create(runtime, &options, &linear, &error) == AXLE_BAD_ARGUMENT,
        "options that are cut short are refused");
}

static void use_bench(axle_runtime* runtime) {
  axle_bench_options options;
  axle_bench_result result;
  memset(&options, 0, sizeof options);
  memset(&result, 0, sizeof result);
  options.struct_size = sizeof options;
  options.mode = AXLE_DA8W8;
  options.m = 1;
  options.n = 64;
  options.k = 64;
  options.weight_bytes = 8192;
  options.seconds = 0.001;
  result.struct_size = sizeof result;
  axle_error error;
  check(axle_runtime_bench(runtime, &options, &result, &error) == AXLE_OK, "the bench runs");
  check(result.microseconds > 0 && result.gigabytes_per_second > 0, "it measures");
}

int main(void) {
  check(axle_runtime_abi_version() == AXLE_RUNTIME_ABI_VERSION, "the ABI version is still 1");
  check(axle_runtime_version()[0] != '\0', "there is a version");
  check(strcmp(axle_status_name(AXLE_UNSUPPORTED), "unsupported") == 0, "statuses have their names");
  check(axle_kernel_count() >= 1, "there are kernels");
  axle_kernel_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  check(axle_kernel_at(axle_kernel_count() - 1, &info) == AXLE_OK && info.usable == 1 &&
            strcmp(info.name, "baseline") == 0,
        "the last kernel runs everywhere");

  axle_runtime_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.threads = 2;
  axle_runtime* runtime = NULL;
  axle_error error;
  check(axle_runtime_create(&options, &runtime, &error) == AXLE_OK, "a runtime is made");
  if (runtime == NULL) return 1;
  const char* key = NULL;
  char value[64];
  check(axle_runtime_info(runtime, 0, &key, value, sizeof value) == AXLE_OK &&
            strcmp(key, "version") == 0,
        "its first fact is the version");
  check(axle_runtime_kernel(runtime, AXLE_DA8W8, 1)[0] != '\0', "a kernel is chosen");
  check(axle_runtime_selftest(runtime, &error) == AXLE_OK, "the self-test passes");
  use_layer(runtime, AXLE_DA8W8, 0.2);
  use_layer(runtime, AXLE_A16W8, 1e-3);
  use_bench(runtime);
  axle_runtime_destroy(runtime);
  return failed;
}
