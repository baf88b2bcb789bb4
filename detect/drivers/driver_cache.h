#pragma once
// A Host that remembers what drivers said. Initialising a driver takes up to seconds; its answer
// changes with the boot, the driver, the devices and the environment, which files tell in a
// millisecond. CPU facts and everything else pass through, fresh each time.

#include <cstdint>
#include <string>

#include "detect/record/forwarding_host.h"

namespace axle::detect {

struct DriverCacheOptions {
  std::string folder;    ///< where the files lie; empty: nothing is kept
  std::string program;   ///< version of the program; another one asks again
  std::int64_t now = 0;  ///< seconds since 1970
};

/// What cannot be read, or is not this user's alone, is as if it were not there; what cannot be
/// written is not kept. Only answers of children that finished are kept, for as long as
/// detect/drivers/kept_answers.h says. Recordings of a machine must not go through it.
class DriverCache final : public ForwardingHost {
 public:
  /// `next` must outlive this.
  DriverCache(Host& next, DriverCacheOptions options);

  std::vector<DriverAnswer> ask_drivers(std::span<const GpuVendor> vendors,
                                        std::chrono::milliseconds time_limit) override;
  /// Only `npu-smi` is remembered, and for ten minutes: it tells the devices' health too.
  ProgramAnswer run_program(const std::string& command,
                            std::chrono::milliseconds time_limit) override;

 private:
  DriverCacheOptions options_;
};

}  // namespace axle::detect
