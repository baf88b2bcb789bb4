#pragma once
// The folder in which a project is built: a lock, and a folder for each row. It may be kept, so
// that the next build, also after one that was killed, goes on from there.

#include <filesystem>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "foundation/system/descriptor.h"

namespace axle::builder {

class BuildTrees {
 public:
  /// `wanted`: the folder, made if missing; empty: a temporary one, which is removed after success
  /// or if it is empty. Waits, with a word, while another build uses it, or compilers of a build
  /// that was killed: they inherit the lock, which is given up when this object ends. Not for a
  /// compiler's server that was left behind. Error: io.
  [[nodiscard]] static Result<BuildTrees> open(const std::string& wanted, Report& report);

  BuildTrees(BuildTrees&& other) noexcept;
  BuildTrees& operator=(BuildTrees&&) = delete;
  ~BuildTrees();

  /// After a failure: of a temporary folder the logs of rows are kept that the error names, and
  /// nothing else.
  void keep(const Error& error);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] bool is_temporary() const { return temporary_; }

 private:
  BuildTrees() = default;
  [[nodiscard]] Result<void> lock(Report& report);

  std::filesystem::path path_;
  bool temporary_ = false;
  system::Descriptor lock_;
};

}  // namespace axle::builder
