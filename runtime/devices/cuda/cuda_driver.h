#pragma once
// What is used of NVIDIA's driver (libcuda.so.1; CUDA Driver API). It is loaded when somebody asks
// for it, and nothing of the toolkit is needed.

#include <cstddef>
#include <cstdint>

#include "runtime/devices/shared_library.h"

namespace axle::runtime {

struct CudaDriver {
  using Result = int;
  using Context = struct CudaContext*;
  using Module = struct CudaModule*;
  using Function = struct CudaFunction*;
  using Stream = struct CudaStream*;

  static constexpr Result success = 0;
  static constexpr Result out_of_memory = 2;
  static constexpr Result not_initialised = 3;
  static constexpr Result no_device = 100;
  static constexpr Result invalid_device = 101;
  static constexpr Result no_code_for_device = 209;
  static constexpr Result first_of_failed_kernels = 700;
  static constexpr int compute_capability_major = 75;
  static constexpr int compute_capability_minor = 76;

  SharedLibrary library;
  Result (*init)(unsigned flags);
  Result (*driver_version)(int* version);
  Result (*error_string)(Result error, const char** text);
  Result (*device_count)(int* count);
  Result (*device)(int* device, int ordinal);
  Result (*device_name)(char* name, int size, int device);
  Result (*device_attribute)(int* value, int attribute, int device);
  Result (*retain_context)(Context* context, int device);
  Result (*release_context)(int device);
  Result (*push_context)(Context context);
  Result (*pop_context)(Context* context);
  Result (*memory_info)(std::size_t* free, std::size_t* total);
  Result (*load_module)(Module* module, const void* image);
  Result (*unload_module)(Module module);
  Result (*get_function)(Function* function, Module module, const char* name);
  Result (*allocate)(std::uint64_t* memory, std::size_t bytes);
  Result (*release)(std::uint64_t memory);
  Result (*copy)(std::uint64_t to, std::uint64_t from, std::size_t bytes);
  Result (*launch)(Function function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                   unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared,
                   Stream stream, void** parameters, void** extra);
  Result (*synchronise)(Stream stream);

  /// Loads the library and starts it. False: `problem` says why there are no devices.
  bool load(char* problem, std::size_t size);
  /// What a result means, in the driver's words.
  [[nodiscard]] const char* text_of(Result result) const;

 private:
  bool find_functions();
  bool start(char* problem, std::size_t size);
};

}  // namespace axle::runtime
