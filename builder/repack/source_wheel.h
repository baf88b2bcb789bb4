#pragma once
// A wheel that exists, as the parts that a variant of it is made of: what is not changed is neither
// unpacked nor packed again.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/wheel_file.h"
#include "wheel/wheel_writer.h"

namespace axle::builder {

class SourceWheel {
 public:
  /// Is shown the content of each file, after it was compared with RECORD: by several threads at
  /// once, in any order.
  using Visit = std::function<Result<void>(const wheel::ZipEntry& entry, std::string_view content)>;

  /// Every file is read once, several at a time. Signatures of RECORD are not part of a variant;
  /// that they are left out is noted. Errors: those of `visit`, not_found, io, malformed (also a
  /// RECORD that is missing or does not list exactly the files), mismatch (a file is not what
  /// RECORD says).
  [[nodiscard]] static Result<SourceWheel> open(const std::string& path, Report& report,
                                                const Visit& visit);

  [[nodiscard]] const wheel::WheelFile& file() const { return file_; }
  /// The content of a file.
  [[nodiscard]] Result<std::string> read(const std::string& path) const;

  /// The wheel with these contents instead of its own, as variant `label` of `metadata`: RECORD and
  /// variant.json are made anew, all else is as it was. It is read back as any other wheel.
  struct Made {
    std::string file_name;
    std::string bytes;
  };
  [[nodiscard]] Result<Made> make(const std::string& label, const wheel::VariantMetadata& metadata,
                                  const std::map<std::string, std::string>& replaced,
                                  std::uint64_t unix_time, Report& report) const;

 private:
  explicit SourceWheel(wheel::WheelFile file) : file_(std::move(file)) {}
  Result<void> read_all(wheel::ByteSource& raw, const Visit& visit);

  wheel::WheelFile file_;
  std::vector<wheel::PackedMember> members_;  ///< as they lie in the archive, in its order
  std::map<std::string, wheel::RecordEntry, std::less<>> record_;
};

}  // namespace axle::builder
