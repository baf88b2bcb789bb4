#include "doctor/import_names.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string_view>

#include "installer/file_access.h"
#include "wheel/zip/zip_reader.h"

namespace axle::doctor {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_pth = 64U << 10;      // bytes
constexpr std::uint64_t largest_finder = 1U << 20;    // bytes
constexpr std::size_t most_files_of_folder = 10'000;  // of a folder
enum Rank : unsigned {
  package_rank,
  compiled_rank,
  source_rank,
  byte_code_rank,
  outer_rank,
  finder_rank
};
constexpr std::string_view package_file = "__init__";
constexpr std::uint64_t most_archive_directory = 64ULL << 20;  // bytes

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

bool is_compiled_suffix(std::string_view suffix) {
  return suffix == ".so" || suffix == ".abi3.so" ||
         (suffix.ends_with(".so") &&
          (suffix.starts_with(".cpython-") || suffix.starts_with(".pypy")));
}

/// `path` relative to a folder on sys.path.
std::optional<ImportName> name_of(std::string_view path) {
  std::string_view stem = path;
  unsigned rank = source_rank;
  if (path.ends_with(".py")) {
    stem.remove_suffix(3);
  } else if (path.ends_with(".pyc")) {
    if (path.contains("__pycache__/")) return std::nullopt;
    stem.remove_suffix(4);
    rank = byte_code_rank;
  } else if (path.ends_with(".so")) {
    const std::size_t name = path.rfind('/') + 1;  // npos + 1 is 0
    stem = path.substr(0, path.find('.', name));
    if (!is_compiled_suffix(path.substr(stem.size()))) return std::nullopt;
    rank = compiled_rank;
  } else {
    return std::nullopt;
  }
  if (stem.ends_with(package_file) && stem.size() > package_file.size() &&
      stem[stem.size() - package_file.size() - 1] == '/') {
    stem.remove_suffix(package_file.size() + 1);
    rank = package_rank;
  }
  std::string name = dotted(stem);
  if (name.empty()) return std::nullopt;
  return ImportName{std::move(name), std::string(path), rank};
}

/// What a source tree has besides its modules.
void add_tree(const std::string& folder, std::vector<ImportName>& names) {
  for (ImportName& name : modules_in(folder)) {
    if (name.name == "setup" || name.name == "conftest") continue;
    name.rank = outer_rank;
    name.by = ImportName::By::pth_folder;
    names.push_back(std::move(name));
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
    if (line.starts_with('/')) add_tree(std::string(line), names);
  }
}

/// A string as Python's repr() writes it, removed from the front of `text`; nullopt: there is none,
/// or it has escapes that no usual path has.
std::optional<std::string> take_python_string(std::string_view& text) {
  if (!text.starts_with('\'') && !text.starts_with('"')) return std::nullopt;
  const char quote = text.front();
  std::string value;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == quote) {
      text.remove_prefix(i + 1);
      return value;
    }
    if (text[i] == '\\') {
      ++i;
      if (i == text.size() || (text[i] != '\\' && text[i] != '\'')) return std::nullopt;
    }
    value += text[i];
  }
  return std::nullopt;
}

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

/// The file of a package or module that a finder looks for at `path`; empty: there is none.
std::string file_at(const std::string& path) {
  std::error_code error;
  for (const std::string& file : {path + "/__init__.py", path + ".py"}) {
    if (fs::is_regular_file(file, error)) return file;
  }
  return {};
}

void add_finder(const std::string& path, std::vector<ImportName>& names) {
  const auto text = installer::read_file(path, largest_finder);
  if (!text) return;
  for (const auto& [name, place] : finder_mapping(*text)) {
    std::string file = file_at(place);
    // "a.b" is in a namespace, which others may have parts of.
    if (is_identifier(name) && place.starts_with('/') && !file.empty())
      names.push_back({name, std::move(file), finder_rank, ImportName::By::finder});
  }
}

bool is_finder(std::string_view name) {
  return name.starts_with("__editable___") && name.ends_with("_finder.py");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> finder_mapping(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> mapping;
  const std::size_t at = text.find("\nMAPPING");
  const std::size_t open = at == std::string_view::npos ? at : text.find('{', at);
  if (open == std::string_view::npos) return mapping;
  text.remove_prefix(open + 1);
  do {
    auto name = take_python_string(text);
    if (!name || !take(text, ": ")) return mapping;
    auto place = take_python_string(text);
    if (!place) return mapping;
    mapping.emplace_back(*std::move(name), *std::move(place));
  } while (take(text, ", "));
  return mapping;
}

std::string folder_of_module(const std::string& path) {
  const fs::path file = path;
  const bool package = file.filename().string().starts_with(std::string(package_file) + ".");
  return (package ? file.parent_path() : file).parent_path().string();
}

std::vector<ImportName> modules_in(const std::string& folder,
                                   const std::vector<std::string>& suffixes) {
  std::vector<std::string> package_files;
  for (const std::string& suffix : suffixes)
    package_files.push_back(std::string(package_file) + suffix);
  if (suffixes.empty()) package_files = {"__init__.abi3.so", "__init__.so"};
  package_files.insert(package_files.end(), {"__init__.py", "__init__.pyc"});
  std::vector<ImportName> names;
  std::error_code error;
  std::size_t seen = 0;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (++seen > most_files_of_folder) break;
    std::string path = at->path().filename().string();
    std::error_code ignored;
    if (at->is_directory(ignored)) {
      const auto file = std::ranges::find_if(package_files, [&](const std::string& one) {
        return fs::exists(at->path() / one, ignored);
      });
      if (file == package_files.end()) continue;
      path += "/" + *file;
    }
    auto name = name_of(path);
    if (!name) continue;
    const bool foreign = name->rank == compiled_rank && !suffixes.empty() &&
                         std::ranges::find(suffixes, path.substr(path.find('.'))) == suffixes.end();
    if (foreign) continue;
    name->path = folder + "/" + path;
    names.push_back(std::move(*name));
  }
  return names;
}

Result<std::vector<ImportName>> modules_in_archive(const std::string& path) {
  fs::path file = path;
  std::error_code error;
  while (file.has_relative_path() && !fs::exists(file, error)) file = file.parent_path();
  if (!fs::is_regular_file(file, error))
    return fail(ErrorKind::not_found, path + " leads into no archive");
  std::string inside = fs::path(path).lexically_relative(file).generic_string();
  inside = inside == "." ? std::string() : inside + "/";
  auto source = wheel::open_file_source(file.string());
  if (!source) return std::unexpected(source.error());
  auto archive = wheel::ZipReader::open_directory(std::move(*source), file.string(),
                                                  {.max_directory_size = most_archive_directory});
  if (!archive) return std::unexpected(archive.error());
  std::vector<ImportName> names;
  for (const wheel::ZipEntry& entry : archive->entries()) {
    if (entry.directory || !entry.name.starts_with(inside)) continue;
    auto name = name_of(std::string_view(entry.name).substr(inside.size()));
    if (!name || name->name.contains('.') || name->path.ends_with(".so")) continue;
    name->path = file.string() + "/" + entry.name;
    names.push_back(std::move(*name));
  }
  return names;
}

std::vector<ImportName> import_names(const InstalledPackageFiles& package) {
  std::vector<ImportName> names;
  for (const wheel::RecordEntry& entry : package.record) {
    if (auto name = name_of(entry.path)) names.push_back(std::move(*name));
    const bool pth = entry.path.ends_with(".pth") && !entry.path.contains('/');
    if (pth) add_pth(package.site + "/" + entry.path, names);
    if (is_finder(entry.path)) add_finder(package.site + "/" + entry.path, names);
  }
  // Python does not look at byte code beside something else.
  std::set<std::string, std::less<>> others;
  for (const ImportName& one : names) {
    if (one.rank != byte_code_rank) others.insert(one.name);
  }
  std::erase_if(names, [&](const ImportName& one) {
    return one.rank == byte_code_rank && others.contains(one.name);
  });
  return names;
}

}  // namespace axle::doctor
