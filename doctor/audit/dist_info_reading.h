#pragma once
// What an unpacked or installed wheel says of itself: METADATA, WHEEL, RECORD and variant.json.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/audit/audited.h"
#include "foundation/report/report.h"

namespace axle::doctor {

/// The texts of a dist-info folder; nullopt: there is no such file.
struct DistInfoTexts {
  std::optional<std::string> metadata;
  std::optional<std::string> wheel;
  std::optional<std::string> record;
  std::optional<std::string> variant;
};

/// `where`: the folder, for errors. What is wrong is in Audited::faults. The files are those of
/// RECORD.
[[nodiscard]] Audited audited_package(const DistInfoTexts& texts, const std::string& where,
                                      Report& report);

/// The same of a folder of the system.
[[nodiscard]] Audited read_dist_info(const std::string& folder, Report& report);

/// The tags of a WHEEL file.
[[nodiscard]] std::vector<wheel::Tag> tags_of_wheel_file(std::string_view text);

}  // namespace axle::doctor
