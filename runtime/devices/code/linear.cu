// The code of device "cuda": devices/sources.cmake compiles it to a fatbin, which cuda_code.cpp
// has in it.
// clang-format off
#include "runtime/devices/code/cuda_dialect.h"
#include "runtime/devices/code/linear_steps.h"
#include "runtime/devices/code/matrix_steps.h"
