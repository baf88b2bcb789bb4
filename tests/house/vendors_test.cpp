// The GPU vendors are one table (detect/gpu_vendors.h): a further one is a row and its own files,
// so nothing else may ask which vendor it is dealing with.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace fs = std::filesystem;

namespace {

/// What is of one vendor says so in its name: a folder, or how the file begins.
bool is_of_one_vendor(const fs::path& file) {
  for (const std::string_view folder : {"nvidia", "amd", "intel"}) {
    if (std::ranges::find(file, fs::path(folder)) != file.end()) return true;
  }
  const std::string name = file.filename().string();
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"nvidia", "amd", "intel", "cuda", "gfx"},
      [&](std::string_view word) { return name.starts_with(word); });
}

/// Tables with a row a vendor, and files of which a part is about one vendor's software.
const std::map<std::string, std::string> others = {
    {"detect/machine.h", "the enumeration"},
    {"detect/gpu_vendors.h", "the table"},
    {"detect/vendor_probe.cpp", "a row a vendor: how it is probed"},
    {"providers/gpu_archs.cpp", "a row a vendor: its architectures"},
    {"binaries/gpu_code_match.cpp", "a row a vendor: its code in binaries"},
    {"machines/gpu_models.cpp", "a row a model"},
    {"machines/overrides.cpp", "a row a variable of some vendor's provider"},
    {"builder/declared_properties.cpp", "what the properties of each vendor declare"},
    {"doctor/code_checks.cpp", "the driver that CUDA's libraries need"},
    {"doctor/gpu_code_checks.cpp", "how CUDA packs its code"},
    {"doctor/machine_checks.cpp", "the age of NVIDIA's driver"},
};

bool names_a_vendor(const fs::path& file) {
  static const std::regex vendor("GpuVendor::(nvidia|amd|intel)|using enum .*GpuVendor");
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (std::regex_search(line, vendor)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("outside of the table and the vendors' own files nothing names a GPU vendor") {
  const fs::path root(AXLE_SOURCE_DIR);
  std::set<std::string> seen;
  for (const char* room :
       {"foundation", "detect", "machines", "providers", "binaries", "wheel", "index", "resolver",
        "installer", "session", "builder", "doctor", "cli"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
      const fs::path file = entry.path().lexically_relative(root);
      const bool source = file.extension() == ".cpp" || file.extension() == ".h";
      if (!source || is_of_one_vendor(file) || !names_a_vendor(entry.path())) continue;
      seen.insert(file.string());
      CHECK_MESSAGE(others.contains(file.string()), file.string());
    }
  }
  for (const auto& [file, reason] : others) CHECK_MESSAGE(seen.contains(file), file, ": ", reason);
}
