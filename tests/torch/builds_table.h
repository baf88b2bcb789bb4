#pragma once
// index/families/torch-builds.json as it stands, read without the family's own reader: what the
// transcription of torch's rule (torch_rule.h) judges by.

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace axle::testing {

struct TableBuild {
  std::string label;
  std::string platform;
  std::optional<std::vector<std::string>> code;  ///< nullopt: not known
  std::optional<std::vector<std::string>> ptx;   ///< nullopt: not known
};

struct TableRelease {
  std::string version;  ///< "2.14"
  std::vector<TableBuild> builds;
};

struct TableGpu {
  std::vector<std::string> names;  ///< as --for knows it
  std::string vendor;
  std::string arch;  ///< "8.6", "gfx942", or a name in BuildsTable::devices
};

struct BuildsTable {
  std::vector<TableRelease> releases;  ///< newest first
  std::vector<TableGpu> gpus;
  std::map<std::string, std::vector<std::string>> devices;  ///< Intel: name -> device IPs
};

[[nodiscard]] const BuildsTable& builds_table();

/// What the table publishes, but not under which label: "rocm" of 2.15. No index can offer that.
[[nodiscard]] bool has_label(const TableBuild& build);

}  // namespace axle::testing
