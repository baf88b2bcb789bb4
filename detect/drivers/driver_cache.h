#pragma once
// A Host that caches drivers' answers. Initialising a driver takes up to seconds; its answer
// changes with the boot, the driver, the devices and the environment, which files show within a
// millisecond. CPU facts and everything else are passed through.

#include <cstdint>
#include <string>

#include "detect/record/forwarding_host.h"

namespace axle::detect {

struct DriverCacheOptions {
  std::string folder;    ///< the folder of the files; empty: nothing is stored
  std::string program;   ///< version of the program; another one queries again
  std::int64_t now = 0;  ///< seconds since 1970
};

/// Files that cannot be read, or do not belong to this user alone, are ignored; write errors too.
/// Only answers of children that finished are stored, for the time in
/// detect/drivers/kept_answers.h. Recordings of a machine must not go through it.
class DriverCache final : public ForwardingHost {
 public:
  /// `next` must outlive this.
  DriverCache(Host& next, DriverCacheOptions options);

  std::vector<DriverAnswer> ask_drivers(std::span<const GpuVendor> vendors,
                                        std::chrono::milliseconds time_limit) override;
  /// Only `npu-smi` is cached, and for ten minutes: it also reports the devices' health.
  ProgramAnswer run_program(const std::string& command,
                            std::chrono::milliseconds time_limit) override;

 private:
  DriverCacheOptions options_;
};

}  // namespace axle::detect
