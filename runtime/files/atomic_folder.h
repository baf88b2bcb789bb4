#pragma once
// A folder that appears under its name when it is complete, or not at all.

#include <string>

#include "runtime/result.h"

namespace axle::runtime {

/// Filled beside its place as "<name>.partial-<process>"; removed, with all that is in it, unless
/// it is published. What a killed process left is removed by the next one. Errors are AXLE_IO.
class AtomicFolder {
 public:
  /// AXLE_BAD_ARGUMENT if there is something at `path`.
  [[nodiscard]] static Result<AtomicFolder> create(const std::string& path);

  AtomicFolder(AtomicFolder&& other) noexcept;
  AtomicFolder& operator=(AtomicFolder&& other) = delete;
  ~AtomicFolder();

  /// Where to write.
  [[nodiscard]] const std::string& partial() const { return partial_; }

  /// Under its name. AXLE_BAD_ARGUMENT if something came to be there meanwhile.
  [[nodiscard]] Result<void> publish();

 private:
  AtomicFolder(std::string path, std::string partial, int lock)
      : path_(std::move(path)), partial_(std::move(partial)), lock_(lock) {}

  std::string path_;
  std::string partial_;  ///< empty: published
  int lock_ = -1;        ///< the folder, open and locked
};

}  // namespace axle::runtime
