#pragma once
// Makes a bundle (index/bundle/bundle.h) of a static index.

#include <cstdint>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/bundle/bundle_list.h"

namespace axle::index {

class BundleWriter {
 public:
  /// Reads all files of the static index in `folder`. Errors: io; malformed (a name that no bundle
  /// has).
  [[nodiscard]] static Result<BundleWriter> open(const std::string& folder);

  /// What is to be signed.
  [[nodiscard]] std::string list() const { return wheel::render_bundle_list(members_); }
  /// Writes `path` and flushes it to disk; nothing may be there. `signature`: on list(), as
  /// ssh-keygen writes it; empty: it is not signed. The same files and signature give the same
  /// bytes. Errors: io; mismatch (a file was changed since it was opened). The number of bytes.
  [[nodiscard]] Result<std::uint64_t> write(const std::string& path,
                                            const std::string& signature) const;

 private:
  explicit BundleWriter(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;
  std::vector<wheel::BundleMember> members_;
  std::vector<std::uint32_t> checksums_;  ///< of `members_`, as archives have them
};

}  // namespace axle::index
