#include "runtime/devices/device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <unistd.h>

#include "runtime/error_message.h"

namespace axle::runtime {
namespace {

/// Whether `name` begins with the kind's, and then has nothing, or ":" and a number.
bool names_kind(const char* name, const DeviceKind& kind, std::uint32_t& number) {
  const std::size_t length = std::strlen(kind.name);
  if (std::strncmp(name, kind.name, length) != 0) return false;
  number = 0;
  if (name[length] == '\0') return true;
  if (name[length] != ':' || name[length + 1] == '\0') return false;
  for (const char* digit = name + length + 1; *digit != '\0'; ++digit) {
    if (*digit < '0' || *digit > '9' || number > 9999) return false;
    number = number * 10 + static_cast<std::uint32_t>(*digit - '0');
  }
  return true;
}

/// "cpu, cuda, opencl": what names a device in this library.
void list_names(char* to, std::size_t size) {
  std::size_t used = static_cast<std::size_t>(std::snprintf(to, size, "cpu"));
  for (const DeviceKind* kind : device_kinds()) {
    const int more = std::snprintf(to + used, size - used, ", %s", kind->name);
    if (more < 0 || static_cast<std::size_t>(more) >= size - used) return;
    used += static_cast<std::size_t>(more);
  }
}

}  // namespace

bool is_cpu(const char* device) {
  return device == nullptr || device[0] == '\0' || std::strcmp(device, "cpu") == 0;
}

axle_status DeviceMemory::grow_to(Device& device, std::size_t bytes, axle_error* error) {
  if (handle_ != 0 && bytes_ >= bytes) return AXLE_OK;
  release();
  const axle_status status = device.kind().allocate(device.state(), bytes, handle_, error);
  if (status != AXLE_OK) {
    handle_ = 0;
    return status;
  }
  device_ = &device;
  bytes_ = bytes;
  return AXLE_OK;
}

void DeviceMemory::release() {
  if (handle_ != 0 && device_->is_of_this_process())
    device_->kind().release(device_->state(), handle_);
  handle_ = 0;
  bytes_ = 0;
}

Device::Device(const DeviceKind& kind, std::uint32_t number)
    : kind_(kind), number_(number), owner_(getpid()) {
  std::snprintf(name_, sizeof name_, "%s:%u", kind.name, number);
}

Device::~Device() {
  for (DeviceMemory* memory : {&scratch_.x, &scratch_.values, &scratch_.row_scales, &scratch_.y})
    memory->release();
  if (state_ != nullptr && is_of_this_process()) kind_.close(state_);
}

axle_status Device::open(axle_error* error) { return kind_.open(number_, state_, error); }

bool Device::is_of_this_process() const { return getpid() == owner_; }

Devices::~Devices() {
  for (std::size_t i = 0; i < count_; ++i) {
    opened_[i]->~Device();
    free(opened_[i]);
  }
}

axle_status Devices::get(const char* name, Device*& device, axle_error* error) {
  std::uint32_t number = 0;
  for (const DeviceKind* kind : device_kinds()) {
    if (!names_kind(name, *kind, number)) continue;
    pthread_mutex_lock(&mutex_);
    const axle_status status = open(*kind, number, device, error);
    pthread_mutex_unlock(&mutex_);
    return status;
  }
  char names[96];
  list_names(names, sizeof names);
  return report_failure(error, AXLE_UNSUPPORTED,
                        "this library has no device '%.32s', it has: %s; another variant of the "
                        "package may have it",
                        name, names);
}

axle_status Devices::open(const DeviceKind& kind, std::uint32_t number, Device*& device,
                          axle_error* error) {
  for (std::size_t i = 0; i < count_; ++i) {
    device = opened_[i];
    if (&device->kind() == &kind && device->number() == number && device->is_of_this_process())
      return AXLE_OK;
  }
  if (count_ == most)
    return report_failure(error, AXLE_UNSUPPORTED, "a runtime opens at most %zu devices", most);
  void* place = nullptr;
  if (posix_memalign(&place, 64, sizeof(Device)) != 0)
    return report_failure(error, AXLE_NO_MEMORY, "no memory for device '%s:%u'", kind.name, number);
  device = ::new (place) Device(kind, number);
  const axle_status status = device->open(error);
  if (status == AXLE_OK) {
    opened_[count_++] = device;
  } else {
    device->~Device();
    free(place);
  }
  return status;
}

}  // namespace axle::runtime
