#pragma once
// Opened devices, each with memory that its layers share while they compute.

#include <cstddef>
#include <cstdint>

#include <pthread.h>
#include <sys/types.h>

#include "runtime/devices/device_kind.h"

namespace axle::runtime {

/// Whether a name means the CPU: NULL, "" or "cpu".
[[nodiscard]] bool is_cpu(const char* device);

class Device;

/// Of a device that outlives it, and that is held (Device::Hold) by whoever changes it.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() { release(); }

  /// At least so many bytes, whose contents are lost.
  axle_status grow_to(Device& device, std::size_t bytes, axle_error* error);
  void release();

  [[nodiscard]] std::uint64_t handle() const { return handle_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  Device* device_ = nullptr;
  std::uint64_t handle_ = 0;
  std::size_t bytes_ = 0;
};

class Device {
 public:
  Device(const DeviceKind& kind, std::uint32_t number);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  axle_status open(axle_error* error);

  [[nodiscard]] const DeviceKind& kind() const { return kind_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] const char* name() const { return name_; }
  [[nodiscard]] void* state() const { return state_; }

  /// After a fork the driver's state is the parent's: a device is of no use to a child.
  [[nodiscard]] bool is_of_this_process() const;

  /// One thread at a time uses a device.
  class Hold {
   public:
    explicit Hold(Device& device) : device_(device) { pthread_mutex_lock(&device_.mutex_); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() { pthread_mutex_unlock(&device_.mutex_); }

   private:
    Device& device_;
  };

  /// What a layer's rows take while it computes; whoever holds the device may use it.
  struct Scratch {
    DeviceMemory x;
    DeviceMemory values;
    DeviceMemory row_scales;
    DeviceMemory y;
  };
  [[nodiscard]] Scratch& scratch() { return scratch_; }

 private:
  const DeviceKind& kind_;
  std::uint32_t number_;
  char name_[32];
  pid_t owner_;
  void* state_ = nullptr;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  Scratch scratch_;
};

/// The devices of one runtime, opened when they are first asked for.
class Devices {
 public:
  static constexpr std::size_t most = 32;

  Devices() = default;
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;
  ~Devices();

  /// `name`: "cuda", which is "cuda:0", or "cuda:1". The device lives as long as this.
  axle_status get(const char* name, Device*& device, axle_error* error);

 private:
  axle_status open(const DeviceKind& kind, std::uint32_t number, Device*& device,
                   axle_error* error);

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  Device* opened_[most] = {};
  std::size_t count_ = 0;
};

}  // namespace axle::runtime
