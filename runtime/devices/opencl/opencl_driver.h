#pragma once
// What is used of OpenCL 1.2 (libOpenCL.so.1, which finds the drivers of all vendors). It is loaded
// when somebody asks for it.

#include <cstddef>
#include <cstdint>

#include "runtime/devices/shared_library.h"

namespace axle::runtime {

struct OpenclDriver {
  using Result = std::int32_t;
  using Flags = std::uint64_t;
  using Platform = struct OpenclPlatform*;
  using Device = struct OpenclDevice*;
  using Context = struct OpenclContext*;
  using Queue = struct OpenclQueue*;
  using Program = struct OpenclProgram*;
  using Kernel = struct OpenclKernel*;
  using Memory = struct OpenclMemory*;
  using Event = struct OpenclEvent*;

  static constexpr Result success = 0;
  static constexpr Result no_memory_object = -4;
  static constexpr Result out_of_resources = -5;
  static constexpr Result out_of_host_memory = -6;
  static constexpr Result invalid_buffer_size = -61;
  static constexpr Flags all_devices = 0xffffffff;
  static constexpr Flags read_write = 1;
  static constexpr Flags rounds_to_nearest = 4;
  static constexpr Flags keeps_subnormals = 1;

  static constexpr std::uint32_t most_threads = 0x1004;
  static constexpr std::uint32_t float_properties = 0x101b;
  static constexpr std::uint32_t global_memory_bytes = 0x101f;
  static constexpr std::uint32_t local_memory_bytes = 0x1023;
  static constexpr std::uint32_t is_little_endian = 0x1026;
  static constexpr std::uint32_t is_available = 0x1027;
  static constexpr std::uint32_t has_compiler = 0x1028;
  static constexpr std::uint32_t device_name = 0x102b;
  static constexpr std::uint32_t device_version = 0x102f;
  static constexpr std::uint32_t build_log = 0x1183;

  SharedLibrary library;
  Result (*platforms)(std::uint32_t room, Platform* found, std::uint32_t* count);
  Result (*devices)(Platform platform, Flags type, std::uint32_t room, Device* found,
                    std::uint32_t* count);
  Result (*device_info)(Device device, std::uint32_t what, std::size_t room, void* value,
                        std::size_t* size);
  Context (*create_context)(const std::intptr_t* properties, std::uint32_t count,
                            const Device* devices,
                            void (*notify)(const char*, const void*, std::size_t, void*),
                            void* data, Result* result);
  Queue (*create_queue)(Context context, Device device, Flags properties, Result* result);
  Program (*create_program)(Context context, std::uint32_t count, const char** texts,
                            const std::size_t* sizes, Result* result);
  Result (*build)(Program program, std::uint32_t count, const Device* devices, const char* options,
                  void (*notify)(Program, void*), void* data);
  Result (*build_info)(Program program, Device device, std::uint32_t what, std::size_t room,
                       void* value, std::size_t* size);
  Kernel (*create_kernel)(Program program, const char* name, Result* result);
  Result (*set_argument)(Kernel kernel, std::uint32_t index, std::size_t size, const void* value);
  Result (*enqueue_kernel)(Queue queue, Kernel kernel, std::uint32_t dimensions,
                           const std::size_t* offset, const std::size_t* threads,
                           const std::size_t* block, std::uint32_t waits, const Event* events,
                           Event* event);
  Memory (*create_buffer)(Context context, Flags flags, std::size_t bytes, void* from,
                          Result* result);
  Result (*enqueue_write)(Queue queue, Memory memory, std::uint32_t blocking, std::size_t offset,
                          std::size_t bytes, const void* from, std::uint32_t waits,
                          const Event* events, Event* event);
  Result (*enqueue_read)(Queue queue, Memory memory, std::uint32_t blocking, std::size_t offset,
                         std::size_t bytes, void* to, std::uint32_t waits, const Event* events,
                         Event* event);
  Result (*release_memory)(Memory memory);
  Result (*release_kernel)(Kernel kernel);
  Result (*release_program)(Program program);
  Result (*release_queue)(Queue queue);
  Result (*release_context)(Context context);

  /// False: `problem` says why there are no devices.
  bool load(char* problem, std::size_t size);
  /// Device `number`, counted over all platforms in their order.
  bool find_device(std::uint32_t number, Device& device) const;

 private:
  bool find_functions();
};

}  // namespace axle::runtime
