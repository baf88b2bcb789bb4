#pragma once
// The folder that wheels are written to. Others see each of them whole or not at all; what a killed
// program had begun to write there is removed by the next one.

#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "foundation/system/whole_file.h"

namespace axle::builder {

class OutputFolder {
 public:
  /// Absolute; made if missing. Error: io.
  [[nodiscard]] static Result<OutputFolder> open(const std::string& path);

  OutputFolder(OutputFolder&& other) noexcept;
  OutputFolder& operator=(OutputFolder&&) = delete;
  ~OutputFolder();

  [[nodiscard]] const std::string& path() const { return path_; }
  /// A file that is there is replaced. By several threads at once. Error: io.
  [[nodiscard]] Result<void> write(const std::string& name, std::string_view bytes,
                                   system::Flush flush) const;

 private:
  explicit OutputFolder(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] std::string drafts() const;

  std::string path_;
};

}  // namespace axle::builder
