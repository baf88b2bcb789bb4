// Packages that conda installed (conda-meta/*.json) and that another tool replaced or removed, and
// those that conda installed over another tool's.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>

#include "doctor/environment_checks.h"
#include "doctor/fixes.h"
#include "doctor/search_path.h"
#include "foundation/documents/json_tree.h"
#include "foundation/system/shell_command.h"
#include "installer/file_access.h"
#include "wheel/hash/sha256.h"
#include "wheel/requirement.h"

namespace axle::doctor {

namespace {

namespace fs = std::filesystem;
using documents::JsonNode;

constexpr std::uint64_t largest_conda_record = 64ULL << 20;   // bytes: packages of 100,000 files
constexpr std::uint64_t most_conda_bytes = 512ULL << 20;      // of all records
constexpr std::uint64_t largest_installer = 4096;             // bytes
constexpr std::uint64_t largest_compared_file = 64ULL << 20;  // bytes
constexpr std::size_t most_files_compared = 100;              // of a package
constexpr std::string_view conda_installer = "conda";

struct CondaFile {
  std::string path;    ///< relative to the prefix
  std::string sha256;  ///< in hexadecimal digits, as installed; empty: unknown
};

struct CondaPackage {
  std::string name;
  std::string version;
  std::string build;
  std::string record;  ///< the path of its JSON file
  std::vector<CondaFile> files;

  [[nodiscard]] std::string title() const { return fmt::format("{} {}", name, version); }
};

/// conda's 64 hexadecimal digits as RECORD has them; empty: they are none.
std::string record_hash(std::string_view digits) {
  wheel::Sha256Digest digest{};
  if (digits.size() != 2 * digest.size()) return {};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const char* pair = digits.data() + 2 * i;
    if (std::from_chars(pair, pair + 2, digest[i], 16).ptr != pair + 2) return {};
  }
  return wheel::render_base64(digest);
}

std::string text_of(const JsonNode& object, std::string_view key) {
  const JsonNode* node = object.find(key);
  return node == nullptr ? std::string() : node->text;
}

std::vector<CondaFile> files_of(const JsonNode& record) {
  std::vector<CondaFile> files;
  if (const JsonNode* data = record.find("paths_data"); data != nullptr) {
    const JsonNode* paths = data->find("paths");
    for (const JsonNode& one : paths == nullptr ? std::vector<JsonNode>() : paths->items) {
      CondaFile file{text_of(one, "_path"), text_of(one, "sha256_in_prefix")};
      if (file.sha256.empty()) file.sha256 = text_of(one, "sha256");
      files.push_back(std::move(file));
    }
  }
  const JsonNode* names = record.find("files");
  if (files.empty() && names != nullptr) {
    for (const JsonNode& one : names->items) files.push_back({one.text, {}});
  }
  return files;
}

Result<CondaPackage> read_conda_package(const std::string& path) {
  const auto text = installer::read_file(path, largest_conda_record);
  if (!text) return std::unexpected(text.error());
  documents::JsonLimits limits;
  limits.bytes = largest_conda_record;
  const auto tree = documents::parse_json_tree(*text, path, limits);
  if (!tree) return std::unexpected(tree.error());
  return CondaPackage{text_of(*tree, "name"), text_of(*tree, "version"), text_of(*tree, "build"),
                      path, files_of(*tree)};
}

std::vector<CondaPackage> read_conda_packages(const std::string& prefix, Findings& findings) {
  std::vector<std::string> records;
  std::error_code error;
  for (fs::directory_iterator at(prefix + "/conda-meta", error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() == ".json") records.push_back(at->path().string());
  }
  std::ranges::sort(records);
  std::vector<CondaPackage> packages;
  std::uint64_t bytes = 0;
  for (const std::string& record : records) {
    std::error_code unsized_file;
    const std::uintmax_t size = fs::file_size(record, unsized_file);
    bytes += unsized_file ? 0 : size;
    if (bytes > most_conda_bytes) {
      findings.not_looked_at(
          fmt::format("what conda installed, beyond {} packages", packages.size()));
      break;
    }
    auto package = read_conda_package(record);
    if (package) {
      packages.push_back(std::move(*package));
    } else {
      findings.not_looked_at("what conda installed: " + package.error().message);
    }
  }
  return packages;
}

/// "numpy" of "lib/python3.11/site-packages/numpy-1.26.4.dist-info/METADATA", and the folder;
/// empty: the file says nothing of the kind.
std::pair<std::string, std::string> distribution_in(std::string_view path) {
  for (const std::string_view file : {".dist-info/METADATA", ".egg-info/PKG-INFO"}) {
    if (!path.ends_with(file)) continue;
    const std::string_view folder = path.substr(0, path.rfind('/'));
    const std::string_view name = folder.substr(folder.rfind('/') + 1);
    return {wheel::normalize_name(name.substr(0, name.find('-'))), std::string(folder)};
  }
  return {};
}

/// A file of conda's that a package of another tool has.
struct TakenFile {
  const CondaFile* file;
  const InstalledPackageFiles* by;
};

/// What became of a package of conda's.
struct CondaChange {
  const InstalledPackageFiles* replaced_by = nullptr;  ///< its own distribution, by another tool
  /// A second .dist-info of that distribution, which does not count: conda's own, or the other's.
  const installer::DamagedFolder* second = nullptr;
  std::string differs_by;  ///< a file that conda and the other tool have with unlike content
  bool is_on_top = false;  ///< conda was the last: the files are its own
  std::vector<TakenFile> overwritten;
  std::vector<std::string> missing;  ///< metadata of its distributions
};

class CondaComparison {
 public:
  CondaComparison(const InstalledFiles& files, const std::vector<CondaPackage>& packages)
      : files_(files) {
    std::error_code error;
    const fs::path real = fs::canonical(files.environment.prefix, error);
    prefix_ = error ? files.environment.prefix : real.string();
    for (const CondaPackage& package : packages) find_intact(package);
    for (const InstalledPackageFiles& package : files.packages) {
      if (is_of_conda(package)) continue;
      for (const wheel::RecordEntry& entry : package.record) {
        if (entry.path.contains("__pycache__/")) continue;
        const std::string place =
            fs::path(package.real_site + "/" + entry.path).lexically_normal().string();
        others_.try_emplace(place, &package, &entry);
      }
    }
  }

  [[nodiscard]] CondaChange compare(const CondaPackage& conda) const {
    CondaChange change;
    for (const CondaFile& file : conda.files) {
      const std::string place = prefix_ + "/" + file.path;
      if (const auto& [name, folder] = distribution_in(file.path); !name.empty()) {
        compare_distribution(name, folder, change);
      } else if (const auto other = others_.find(place); other != others_.end()) {
        const auto& [package, entry] = other->second;
        const std::string hash = record_hash(file.sha256);
        if (hash.empty() || entry->sha256.empty() || entry->sha256 == hash) continue;
        change.overwritten.push_back({&file, package});
      }
    }
    if (change.replaced_by != nullptr || change.second != nullptr) find_order(conda, change);
    return change;
  }

 private:
  /// INSTALLER alone does not tell: of packages that conda's were made from with pip it may say so.
  [[nodiscard]] bool is_of_conda(const InstalledPackageFiles& package) const {
    const std::string_view folder = package.distribution.dist_info;
    return package.distribution.installer == conda_installer ||
           intact_.contains(package.real_site + std::string(folder.substr(folder.rfind('/'))));
  }

  /// The folders of its distributions that are as conda wrote them, by their RECORD.
  void find_intact(const CondaPackage& conda) {
    std::set<std::string> changed;
    std::set<std::string> there;
    for (const CondaFile& file : conda.files) {
      const std::string place = prefix_ + "/" + file.path;
      if (const auto& [name, folder] = distribution_in(file.path); !name.empty())
        there.insert(prefix_ + "/" + folder);
      if (!file.path.ends_with(".dist-info/RECORD") || file.sha256.empty()) continue;
      const auto text = installer::read_file(place, largest_conda_record);
      if (!text || wheel::render_hex(wheel::sha256(*text)) != file.sha256)
        changed.insert(place.substr(0, place.rfind('/')));
    }
    std::ranges::set_difference(there, changed, std::inserter(intact_, intact_.end()));
  }

  void compare_distribution(const std::string& name, const std::string& folder,
                            CondaChange& change) const {
    const auto installed = std::ranges::find_if(
        files_.packages, [&](const auto& one) { return one.distribution.name == name; });
    if (installed == files_.packages.end()) {
      std::error_code error;
      if (!fs::exists(fs::path(prefix_) / folder, error) && !error)
        change.missing.push_back(folder);
      return;
    }
    if (!is_of_conda(*installed)) change.replaced_by = &*installed;
    const auto second =
        std::ranges::find_if(files_.damaged_folders, [&](const installer::DamagedFolder& one) {
          const bool own = real_path(one.folder) == prefix_ + "/" + folder;
          return one.kind == installer::DamagedFolder::Kind::older_double && one.name == name &&
                 own == (change.replaced_by != nullptr);
        });
    if (second != files_.damaged_folders.end()) change.second = &*second;
  }

  /// Which tool was the last: whose files are there, where the two differ.
  void find_order(const CondaPackage& conda, CondaChange& change) const {
    std::vector<std::string> own;
    std::vector<std::string> others;
    for (const CondaFile& file : conda.files) {
      if (own.size() + others.size() == most_files_compared) break;
      const std::string place = prefix_ + "/" + file.path;
      const std::string hash = record_hash(file.sha256);
      if (hash.empty() || file.path.contains(".dist-info/")) continue;
      if (change.replaced_by != nullptr) {
        const auto other = others_.find(place);
        if (other == others_.end() || other->second.first != change.replaced_by ||
            other->second.second->sha256 == hash)
          continue;
      }
      const auto content = installer::read_file(place, largest_compared_file);
      if (!content) continue;
      const bool is_own = wheel::render_hex(wheel::sha256(*content)) == file.sha256;
      (is_own ? own : others).push_back(file.path);
    }
    // Without a difference: other tools remove conda's metadata before they install theirs.
    change.is_on_top =
        own.size() == others.size() ? change.second != nullptr : own.size() > others.size();
    const std::vector<std::string>& last = change.is_on_top ? own : others;
    if (!last.empty()) change.differs_by = last.front();
  }

  const InstalledFiles& files_;
  std::string prefix_;            ///< with links resolved
  std::set<std::string> intact_;  ///< folders of distributions
  std::unordered_map<std::string,
                     std::pair<const InstalledPackageFiles*, const wheel::RecordEntry*>>
      others_;  ///< what other tools installed, by path
};

/// Of both tools only conda writes its own record.
Hint hand_back(const CondaPackage& conda, const CondaChange& change, const Packages& others,
               const InstalledFiles& files) {
  Hint hint("let conda install its own again");
  if (!others.empty()) hint.commands.push_back(uninstall_command(others, files));
  if (change.second != nullptr && change.replaced_by == nullptr)
    hint.commands.push_back(
        shell_command(std::vector<std::string>{"rm", "-r", change.second->folder}));
  std::string wanted = fmt::format("{}={}", conda.name, conda.version);
  if (!conda.build.empty()) wanted += "=" + conda.build;
  hint.commands.push_back(shell_command(std::vector<std::string>{"conda", "install", "--prefix",
                                                                 files.environment.prefix, "--yes",
                                                                 "--force-reinstall", wanted}));
  return hint;
}

/// "pip", of what has an INSTALLER.
std::string tool_of(std::string installer) {
  while (installer.ends_with('\n') || installer.ends_with('\r')) installer.pop_back();
  return installer.empty() ? "another tool" : installer;
}

std::string render_conda_change(const CondaChange& change, const Packages& others) {
  std::string other;
  std::string tool;
  if (change.replaced_by != nullptr) {
    other = change.replaced_by->title;
    tool = tool_of(change.replaced_by->distribution.installer);
  } else if (change.second != nullptr) {
    other = fmt::format("{} {}", change.second->name, change.second->version);
    tool = tool_of(
        installer::read_file(change.second->folder + "/INSTALLER", largest_installer).value_or(""));
  }
  if (!other.empty() && change.is_on_top)
    return fmt::format("conda installed it over {} of {}, and the metadata of both is there", other,
                       tool);
  if (!other.empty())
    return fmt::format("conda still has it, but {} installed {} in its place{}", tool, other,
                       change.second == nullptr ? "" : ", and the metadata of both is there");
  if (!change.overwritten.empty())
    return fmt::format("{} of its files belong to {} too, with different content",
                       change.overwritten.size(), others.front()->title);
  return "conda still has it, but another tool removed it";
}

void say_conda_change(const CondaPackage& conda, const CondaChange& change,
                      const InstalledFiles& files, Findings& findings) {
  Packages others;
  if (change.replaced_by != nullptr) others.push_back(change.replaced_by);
  for (const TakenFile& one : change.overwritten) {
    if (std::ranges::find(others, one.by) == others.end()) others.push_back(one.by);
  }
  Finding& finding = findings.add("conda-overwritten", "conda's " + conda.title(),
                                  render_conda_change(change, others));
  // Of a package that is wholly another tool's only conda's record is wrong.
  if (change.replaced_by != nullptr && !change.is_on_top && change.second == nullptr)
    finding.level = FindingLevel::warning;
  finding.evidence.push_back({conda.record, "", fmt::format("lists {} files", conda.files.size())});
  if (change.replaced_by != nullptr) {
    const auto& distribution = change.replaced_by->distribution;
    finding.evidence.push_back(
        {distribution.dist_info, "INSTALLER",
         distribution.installer.empty() ? "is absent" : distribution.installer});
  }
  if (change.second != nullptr)
    finding.evidence.push_back({change.second->folder, "", "is there, too"});
  if (!change.differs_by.empty())
    finding.evidence.push_back(
        {change.differs_by, "sha256", change.is_on_top ? "is conda's" : "is not conda's"});
  for (const std::string& folder : change.missing)
    finding.evidence.push_back({folder, "", "is missing"});
  for (const TakenFile& one : change.overwritten) {
    if (finding.evidence.size() >= most_examples) break;
    finding.evidence.push_back(
        {one.file->path, "RECORD", fmt::format("is in that of {}", one.by->title)});
  }
  finding.hint = hand_back(conda, change, others, files);
}

}  // namespace

void check_conda(InstalledFiles& files, Findings& findings) {
  const std::vector<CondaPackage> packages =
      read_conda_packages(files.environment.prefix, findings);
  if (packages.empty()) return;
  const CondaComparison comparison(files, packages);
  std::set<std::string> told;
  for (const CondaPackage& conda : packages) {
    const CondaChange change = comparison.compare(conda);
    if (change.replaced_by == nullptr && change.second == nullptr && change.overwritten.empty() &&
        change.missing.empty())
      continue;
    say_conda_change(conda, change, files, findings);
    if (change.second != nullptr) told.insert(change.second->folder);
    if (change.replaced_by != nullptr && change.is_on_top)
      files.packages[static_cast<std::size_t>(change.replaced_by - files.packages.data())]
          .under_condas_own = true;
  }
  std::erase_if(files.damaged_folders, [&](const auto& one) { return told.contains(one.folder); });
}

}  // namespace axle::doctor
