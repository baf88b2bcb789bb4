#pragma once
// Folders and wheels that the tests of index/ make for themselves.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "wheel/variant/variant_metadata.h"

namespace axle::test {

/// A new folder, removed with its content at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string operator/(std::string_view relative) const { return path_ / relative; }

 private:
  std::filesystem::path path_;
};

/// Makes the parents too.
void write_file(const std::string& path, std::string_view content);
[[nodiscard]] std::string read_file(const std::string& path);

struct SampleWheel {
  std::string name = "sample";  ///< as in a wheel's file name
  std::string version = "1.0";
  std::string label;                                 ///< empty: a plain wheel
  std::vector<std::string> properties;               ///< "ns :: feature :: value"
  std::vector<std::string> namespaces = {"x86_64"};  ///< default-priorities
  std::size_t padding = 0;                           ///< bytes of incompressible content in front
};

[[nodiscard]] std::string wheel_file_name(const SampleWheel& wheel);
[[nodiscard]] std::string wheel_bytes(const SampleWheel& wheel);
/// Writes it into `folder`; gives back the path.
std::string write_wheel(const std::string& folder, const SampleWheel& wheel);

}  // namespace axle::test
