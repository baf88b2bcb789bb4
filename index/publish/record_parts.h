#pragma once
// Records of files, in any order and more of them than memory holds: divided by project into parts
// that are read one at a time.

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "index/publish/index_pages.h"

namespace axle::index {

/// By project, normalised.
using ProjectRecords = std::map<std::string, std::vector<ListedFile>>;

/// One line. `where`: "FILE, line 7". Error: malformed.
struct ParsedRecord {
  std::string project;  ///< normalised
  ListedFile file;
};
[[nodiscard]] Result<ParsedRecord> parse_record(std::string_view line, std::string_view where);

class RecordParts {
 public:
  static constexpr std::size_t count = 64;

  /// Divides what `file` has, or standard input ("-"). The parts are temporary files without names,
  /// in `folder` if its file system has such. Errors: malformed (with the line), io.
  [[nodiscard]] static Result<RecordParts> divide(const std::string& file,
                                                  const std::string& folder);
  /// Every project is in one part.
  [[nodiscard]] Result<ProjectRecords> read(std::size_t part) const;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using Part = std::unique_ptr<std::FILE, Close>;

  [[nodiscard]] Result<void> add(std::string_view line, std::uint64_t number);

  std::string file_;
  std::vector<Part> parts_;
};

}  // namespace axle::index
