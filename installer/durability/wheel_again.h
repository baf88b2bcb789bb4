#pragma once
// The files of a wheel that was installed once: from the store, or read or downloaded again.

#include <optional>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "installer/durability/unflushed_change.h"

namespace axle::installer {

class WheelAgain {
 public:
  /// Without `transport` only a wheel on this machine is read again. All must outlive this.
  WheelAgain(const WheelOrigin& wheel, const std::string& store, index::Transport* transport,
             Report& report)
      : wheel_(wheel), store_(store), transport_(transport), report_(report) {}

  /// The new file `path`, with the content that `file` promises: a hard link if possible. Errors:
  /// as of acquire_wheel.
  [[nodiscard]] Result<void> make(const PromisedFile& file, const std::string& path);

 private:
  [[nodiscard]] Result<void> take(const PromisedFile& file, const std::string& path) const;
  Result<void> acquire();

  const WheelOrigin& wheel_;
  const std::string& store_;
  index::Transport* transport_;
  Report& report_;
  std::optional<Result<void>> acquired_;
};

}  // namespace axle::installer
