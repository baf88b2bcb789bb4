#include "doctor/import_names.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "installer/file_access.h"

namespace axle::doctor {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_pth = 64U << 10;      // bytes
constexpr std::size_t most_files_of_folder = 10'000;  // of a folder
enum Rank : unsigned { package_rank, compiled_rank, source_rank, outer_rank };

bool is_identifier(std::string_view word) {
  if (word.empty() || (word[0] >= '0' && word[0] <= '9')) return false;
  return std::ranges::all_of(word, [](unsigned char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c >= 0x80;
  });
}

/// "a/b" -> "a.b"; empty if a part is not an identifier ("a.libs", "..").
std::string dotted(std::string_view path) {
  std::string name;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (!is_identifier(path.substr(0, end))) return {};
    if (!name.empty()) name += '.';
    name += path.substr(0, end);
    path.remove_prefix(std::min(path.size(), end + 1));
  }
  return name;
}

/// `path` relative to a folder on sys.path.
std::optional<ImportName> name_of(std::string_view path) {
  std::string_view stem = path;
  unsigned rank = source_rank;
  if (path.ends_with("/__init__.py")) {
    stem.remove_suffix(std::string_view("/__init__.py").size());
    rank = package_rank;
  } else if (path.ends_with(".py")) {
    stem.remove_suffix(3);
  } else if (path.ends_with(".so")) {
    const std::size_t name = path.rfind('/') + 1;  // npos + 1 is 0
    stem = path.substr(0, path.find('.', name));
    const std::string_view suffix = path.substr(stem.size());
    if (suffix != ".so" && suffix != ".abi3.so" && !suffix.starts_with(".cpython-"))
      return std::nullopt;
    rank = compiled_rank;
  } else {
    return std::nullopt;
  }
  std::string name = dotted(stem);
  if (name.empty()) return std::nullopt;
  return ImportName{std::move(name), std::string(path), rank, false};
}

/// The modules directly in a folder.
void add_folder(const std::string& folder, std::vector<ImportName>& names) {
  std::error_code error;
  std::size_t seen = 0;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (++seen > most_files_of_folder) return;
    std::string path = at->path().filename().string();
    std::error_code ignored;
    if (at->is_directory(ignored)) {
      if (!fs::exists(at->path() / "__init__.py", ignored)) continue;
      path += "/__init__.py";
    }
    auto name = name_of(path);
    if (!name || name->name == "setup" || name->name == "conftest") continue;
    name->path = folder + "/" + path;
    name->rank = outer_rank;
    name->from_pth = true;
    names.push_back(std::move(*name));
  }
}

void add_pth(const std::string& path, std::vector<ImportName>& names) {
  const auto text = installer::read_file(path, largest_pth);
  if (!text) return;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    // Lines that begin with "import" are programs, whose effect cannot be determined from outside.
    if (line.starts_with('/')) add_folder(std::string(line), names);
  }
}

}  // namespace

std::vector<ImportName> import_names(const InstalledPackageFiles& package) {
  std::vector<ImportName> names;
  for (const wheel::RecordEntry& entry : package.record) {
    if (auto name = name_of(entry.path)) names.push_back(std::move(*name));
    const bool pth = entry.path.ends_with(".pth") && !entry.path.contains('/');
    if (pth) add_pth(package.site + "/" + entry.path, names);
  }
  return names;
}

}  // namespace axle::doctor
