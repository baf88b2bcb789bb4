#pragma once
// What a row was built from, so that it is built again only when that has changed: by content, not
// by time.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace axle::builder {

struct InputFile {
  std::string sha256;
  std::uint64_t size = 0;
  std::int64_t modified = 0;  ///< nanoseconds since 1970
  std::uint64_t inode = 0;
};

/// A file in the row's folder. Anybody may have changed it: what is not as written is no record.
struct BuildRecord {
  std::string settings;                     ///< hash of everything but files: build_settings.h
  std::int64_t begun = 0;                   ///< nanoseconds since 1970
  std::map<std::string, InputFile> inputs;  ///< by absolute path
  // Of a finished build:
  std::string wheel;  ///< the name of its wheel in the row's folder; empty: not finished
  std::string sha256;
};

[[nodiscard]] std::optional<BuildRecord> read_record(const std::string& file);
/// False: it cannot be written, and the next build begins anew.
bool write_record(const std::string& file, const BuildRecord& record);

/// Every file below `folder`, absolute and sorted, without those of version control, caches and
/// environments, and without `left_out`, folders that are inside of it.
[[nodiscard]] std::vector<std::string> project_inputs(const std::string& folder,
                                                      const std::set<std::string>& left_out);

/// As they are now; what an `earlier` record knows of an unchanged file is not computed again.
/// Files that cannot be read are left out.
[[nodiscard]] std::map<std::string, InputFile> hashed_inputs(const std::vector<std::string>& files,
                                                             const BuildRecord& earlier);

enum class InputState : std::uint8_t {
  same,
  newer,  ///< what changed is newer than the build: Ninja sees it
  older,  ///< something changed without a newer time, is gone, or stands before another file of its
          ///< name: only a new build sees it
};
/// `now`: of the same files and those of the project.
[[nodiscard]] InputState compare_inputs(const BuildRecord& earlier,
                                        const std::map<std::string, InputFile>& now);

}  // namespace axle::builder
