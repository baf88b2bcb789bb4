#pragma once
// --exclude-newer: files uploaded too late do not exist.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace axle::resolver {

/// Files uploaded at this time or later do not exist.
struct UploadCutoff {
  std::int64_t time = 0;  ///< as PublishedFile::uploaded
  std::string text;       ///< for messages: "2024-06-01T00:00:00Z (--exclude-newer)"
};

struct UploadCutoffs {
  std::optional<UploadCutoff> general;
  /// nullopt: none holds for this package. Normalised names.
  std::map<std::string, std::optional<UploadCutoff>, std::less<>> of_package;

  /// The one that holds for `name`; nullptr: none.
  [[nodiscard]] const UploadCutoff* find(std::string_view name) const;
};

}  // namespace axle::resolver
