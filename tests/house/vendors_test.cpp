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
#include <vector>

#include <doctest/doctest.h>

#include "detect/gpu_vendors.h"

namespace detect = axle::detect;
namespace fs = std::filesystem;

namespace {

/// What is of one vendor says so in its name: a folder, or how the file begins.
bool is_of_one_vendor(const fs::path& file) {
  std::vector<std::string> beginnings = {"cuda", "gfx"};
  for (const detect::GpuVendorRow& vendor : detect::gpu_vendors()) {
    const std::string word(vendor.word);
    if (std::ranges::find(file, fs::path(word)) != file.end()) return true;
    beginnings.push_back(word);
  }
  const std::string name = file.filename().string();
  return std::ranges::any_of(
      beginnings, [&](const std::string& beginning) { return name.starts_with(beginning); });
}

/// Tables with a row per vendor, and files of which a part is about one vendor's software.
const std::map<std::string, std::string> others = {
    {"detect/machine.h", "the enumeration"},
    {"detect/gpu_vendors.h", "the table"},
    {"detect/vendor_probe.cpp", "a row a vendor: how it is probed"},
    {"providers/gpu_archs.cpp", "a row a vendor: its architectures"},
    {"binaries/gpu_code_match.cpp", "a row a vendor: its code in binaries"},
    {"builder/repack/gpu_architectures.cpp", "which property stands for code of each vendor"},
    {"index/family/family_vendors.cpp", "a row a vendor: its code in index families"},
    {"index/family/family_reader.cpp", "keys of families that only NVIDIA's builds have"},
    {"index/family/family_release_reader.cpp", "keys of families that only NVIDIA's builds have"},
    {"resolver/family/built_for.cpp", "how local versions name backends"},
    {"resolver/family/gpu_platform.cpp", "the names of each vendor's libraries"},
    {"machines/gpu_models.cpp", "a row a model"},
    {"machines/cluster/kubernetes_nodes.cpp", "what the labels of each vendor say"},
    {"resolver/predicate/machine_facts.cpp", "a row a fact, of which each vendor has its own"},
    {"resolver/predicate/known_values.cpp", "a row a fact: its known values"},
    {"resolver/predicate/predicate.cpp", "that NVIDIA's driver is named by its release"},
    {"resolver/classes/value_search.cpp", "which properties name values of which fact"},
    {"machines/site_profile.cpp", "device nodes, by what they are called"},
    {"detect/record/identity_text.cpp", "words that identify nobody"},
    {"detect/record/scrub.cpp", "device nodes, by what they are called"},
    {"providers/bundled_libraries.cpp", "Intel's OpenMP runtime"},
    {"providers/plugins/grants.cpp", "a row a plugin"},
    {"machines/overrides.cpp", "a row a variable of some vendor's provider"},
    {"binaries/declared_properties.cpp", "what the properties of each vendor declare"},
    {"builder/compilation.cpp", "what the compilers of each vendor call their targets"},
    {"doctor/code_checks.cpp", "the driver that CUDA's libraries need"},
    {"doctor/features/changed_machine.cpp", "that CUDA is of NVIDIA's driver"},
    {"doctor/features/feature_judge.cpp", "that builds for CUDA ask for a driver"},
    {"doctor/features/feature_needs.cpp",
     "what the toolkits are called, and that CUDA is the driver's"},
    {"doctor/gpu_code_checks.cpp", "how CUDA packs its code"},
    {"doctor/machine_checks.cpp", "the age of NVIDIA's driver, the second voice on AMD's GPUs"},
    {"providers/rocm_bootstrap.cpp", "a published provider of one vendor"},
    {"wheel/system_platform.cpp", "a format of macOS that is called intel"},
};

/// As an enumerator, or by its word.
bool names_a_vendor(const fs::path& file) {
  static const std::regex vendor = [] {
    std::string words;
    for (const detect::GpuVendorRow& row : detect::gpu_vendors())
      words += (words.empty() ? "" : "|") + std::string(row.word);
    return std::regex("GpuVendor::(" + words + ")|using enum .*GpuVendor|\"(" + words + ")\"");
  }();
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (std::regex_search(line.substr(0, line.find("//")), vendor)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("outside of the table and the vendors' own files nothing names a GPU vendor") {
  const fs::path root(AXLE_SOURCE_DIR);
  std::set<std::string> seen;
  for (const char* room :
       {"foundation", "detect", "machines", "providers", "binaries", "wheel", "index", "plan",
        "resolver", "installer", "session", "builder", "doctor", "cli"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
      const fs::path file = entry.path().lexically_relative(root);
      const bool source = file.extension() == ".cpp" || file.extension() == ".h";
      if (!source || is_of_one_vendor(file) || !names_a_vendor(entry.path())) continue;
      seen.insert(file.string());
      CHECK_MESSAGE(others.contains(file.string()), file.string(), " names a GPU vendor");
    }
  }
  for (const auto& [file, reason] : others) CHECK_MESSAGE(seen.contains(file), file, ": ", reason);
}
