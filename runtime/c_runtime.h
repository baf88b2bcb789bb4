#pragma once
// What the files of the C interface share: c_api.cpp, devices/device_api.cpp, model/*_api.cpp and
// tune/tune_api.cpp.

#include <cstddef>
#include <cstring>

#include "runtime/devices/device.h"
#include "runtime/engine.h"

struct axle_runtime {
  explicit axle_runtime(int threads) : engine(threads) {}
  axle::runtime::Engine engine;
  axle::runtime::Devices devices;
};

namespace axle::runtime {

inline axle_status missing_argument(axle_error* error, const char* name) {
  return report_failure(error, AXLE_BAD_ARGUMENT, "%s is NULL", name);
}

/// What a struct had when it was first published: no later caller has less.
struct FirstLayout {
  const char* name;
  std::size_t bytes;
};

/// Fixed: a field that comes later changes nothing here. It must begin behind the first layout's
/// padding, which callers leave as it is.
template <class T>
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): those that exist are constexpr
extern const FirstLayout first_layout;

#define AXLE_FIRST_LAYOUT(type, last)                \
  template <>                                        \
  inline constexpr FirstLayout first_layout<type> {  \
    #type, offsetof(type, last) + sizeof(type::last) \
  }

AXLE_FIRST_LAYOUT(axle_device_info, problem);
AXLE_FIRST_LAYOUT(axle_kernel_info, missing);
AXLE_FIRST_LAYOUT(axle_runtime_options, threads);
AXLE_FIRST_LAYOUT(axle_linear_options, bias);
AXLE_FIRST_LAYOUT(axle_model_options, context);
AXLE_FIRST_LAYOUT(axle_prompt, seed);
AXLE_FIRST_LAYOUT(axle_answer, reserved);
AXLE_FIRST_LAYOUT(axle_bench_options, seconds);
AXLE_FIRST_LAYOUT(axle_bench_result, read_gigabytes_per_second);

#undef AXLE_FIRST_LAYOUT

/// Whether a caller's struct is there, of any version; `subject` is what it is called in errors.
template <class T>
axle_status check_struct(axle_error* error, const char* subject, const T* from) {
  constexpr const FirstLayout& first = first_layout<T>;
  if (from == nullptr) return missing_argument(error, subject);
  if (from->struct_size >= first.bytes) return AXLE_OK;
  return report_failure(error, AXLE_BAD_ARGUMENT,
                        "%s: struct_size is %zu; %s has at least %zu bytes: set it to sizeof(%s)",
                        subject, from->struct_size, first.name, first.bytes, first.name);
}

/// Takes a caller's struct: fields that the caller does not know are zero, and those that this
/// library does not know are left out.
template <class T>
axle_status take_struct(axle_error* error, const char* subject, const T* from, T& to) {
  const axle_status status = check_struct(error, subject, from);
  if (status != AXLE_OK) return status;
  std::memset(&to, 0, sizeof to);
  std::memcpy(&to, from, from->struct_size < sizeof to ? from->struct_size : sizeof to);
  return AXLE_OK;
}

/// Fills a caller's struct as far as both know it; its size stays.
template <class T>
void give_struct(const T& from, T& to) {
  constexpr std::size_t own = sizeof to.struct_size;
  const std::size_t bytes = to.struct_size < sizeof to ? to.struct_size : sizeof to;
  std::memcpy(reinterpret_cast<char*>(&to) + own, reinterpret_cast<const char*>(&from) + own,
              bytes - own);
}

}  // namespace axle::runtime
