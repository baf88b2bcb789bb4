#pragma once
// The SDK for vendors that is embedded in this program: header, CMake package, templates.

#include <span>
#include <string_view>

namespace axle::providers {

struct SdkFile {
  std::string_view path;  ///< relative to providers/sdk: "templates/cpp/provider.cpp"
  std::string_view text;
};

/// Sorted by path.
[[nodiscard]] std::span<const SdkFile> sdk_files();

}  // namespace axle::providers
