#include "installer/transaction/new_package.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <list>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "index/http/redaction.h"
#include "installer/environment/direct_url.h"
#include "installer/environment/evaluated_metadata.h"
#include "installer/environment/scripts.h"
#include "installer/file_access.h"
#include "installer/tree/byte_code_names.h"
#include "wheel/hash/sha256.h"
#include "wheel/record.h"

namespace axle::installer {

NewFile written_file(std::string target, std::string content, bool executable) {
  NewFile file;
  file.target = std::move(target);
  file.content = std::move(content);
  file.executable = executable;
  file.sha256 = wheel::render_base64(wheel::sha256(file.content));
  file.size = file.content.size();
  return file;
}

std::string record_path(std::string_view site, std::string_view target) {
  if (contains_path(site, target)) return std::string(target.substr(site.size() + 1));
  return std::filesystem::path(target).lexically_relative(site).generic_string();
}

namespace {

std::string render_direct_url(const plan::ResolvedPackage& package, const std::string& sha256) {
  return direct_url(package, sha256)
      .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// `target` and the file of `wheel` are used up.
Result<NewFile> placed_file(WheelContents& wheel, PlacedFile& placed, const std::string& shebang) {
  StoredFile& stored = wheel.manifest.files[placed.stored];
  if (placed.script) {
    constexpr std::uint64_t shebang_limit = 64U << 20;  // a longer script is a program
    if (stored.size <= shebang_limit) {
      auto text = wheel.read_script(stored.path, shebang_limit);
      if (!text) return std::unexpected(text.error());
      if (auto rewritten = *text ? rewrite_script(**text, shebang) : std::nullopt)
        return written_file(std::move(placed.target), std::move(*rewritten), true);
      // Links would share the store's permissions; a script is executable whatever the archive
      // contains.
      if (*text && !stored.executable)
        return written_file(std::move(placed.target), std::move(**text), true);
    }
  }
  return NewFile{std::move(placed.target),
                 std::move(stored.path),
                 {},
                 stored.executable,
                 std::move(stored.sha256),
                 stored.size,
                 stored.mode,
                 stored.modified_now,
                 stored.inode};
}

/// METADATA that pip and uv can read, instead of the wheel's own, which is stored next to it.
Result<void> evaluate_metadata(const plan::ResolvedPackage& package, const WheelContents& wheel,
                               const Layout& layout, NewPackage& result) {
  if (!wheel.manifest.variant_markers) return {};
  const std::string target = layout.dist_info + "/METADATA";
  const auto file = std::ranges::find(result.files, target, &NewFile::target);
  if (file == result.files.end()) return {};
  auto text = wheel.read(file->stored, metadata_limit);
  if (!text) return std::unexpected(text.error());
  // A build of an index family is a plain wheel: its markers see no variant.
  const bool plain = !package.variant || !package.family.empty();
  const MarkerValues values{plain ? std::string() : *package.variant,
                            plain ? wheel::VariantProperties() : package.supported_properties};
  auto evaluated = evaluate_metadata_text(*text, values);
  if (!evaluated) return std::unexpected(within(package.filename, evaluated.error()));
  if (*evaluated == *text) return {};
  NewFile original = std::exchange(*file, written_file(target, std::move(*evaluated), false));
  original.target = fmt::format("{}/{}", layout.dist_info, original_metadata);
  result.files.push_back(std::move(original));
  result.files.push_back(written_file(fmt::format("{}/{}", layout.dist_info, marker_values_file),
                                      render_marker_values(values), false));
  return {};
}

/// Beside the modules that are linked from the wheel's tree; a file of the wheel comes before it.
void add_byte_code(const StoreEntry& byte_code, const Environment& environment,
                   NewPackage& package) {
  std::unordered_map<std::string_view, const StoredFile*> compiled;
  for (const StoredFile& file : byte_code.manifest.files) compiled.emplace(file.path, &file);
  std::unordered_set<std::string> taken;
  for (const NewFile& file : package.files)
    if (file.target.ends_with(".pyc")) taken.insert(file.target);
  package.byte_code_tree = byte_code.tree;
  const std::size_t modules = package.files.size();
  for (std::size_t i = 0; i < modules; ++i) {
    const NewFile& module = package.files[i];
    if (!module.stored.ends_with(".py") || !module.target.ends_with(".py")) continue;
    const auto code = compiled.find(byte_code_path(module.stored, environment.byte_code.tag));
    if (code == compiled.end()) continue;
    std::string target = byte_code_path(module.target, environment.byte_code.tag);
    if (taken.contains(target)) continue;
    const StoredFile& stored = *code->second;
    package.files.push_back({std::move(target),
                             stored.path,
                             {},
                             false,
                             stored.sha256,
                             stored.size,
                             stored.mode,
                             stored.modified_now,
                             0,
                             true});
  }
}

NewFile make_record(const NewPackage& package, const Layout& layout) {
  struct Line {
    std::string_view path;
    const NewFile* file;
  };
  std::vector<Line> lines;
  lines.reserve(package.files.size());
  std::list<std::string> outside;  // of the site: paths that are no part of a target
  for (const NewFile& file : package.files) {
    std::string_view path = file.target;
    if (contains_path(layout.site, path)) {
      path.remove_prefix(layout.site.size() + 1);
    } else {
      path = outside.emplace_back(record_path(layout.site, path));
    }
    lines.push_back({path, &file});
  }
  // Most are in order, as the store has them.
  const auto unsorted = std::ranges::is_sorted_until(lines, {}, &Line::path);
  std::ranges::sort(unsorted, lines.end(), {}, &Line::path);
  std::vector<Line> sorted;
  sorted.reserve(lines.size());
  std::ranges::merge(lines.begin(), unsorted, unsorted, lines.end(), std::back_inserter(sorted), {},
                     &Line::path, &Line::path);
  std::string text;
  constexpr std::size_t most_of_hash_and_size = 80;
  std::size_t length = 0;
  for (const Line& line : sorted) length += line.path.size() + most_of_hash_and_size;
  text.reserve(length);
  for (const Line& line : sorted)
    wheel::append_record_line(text, line.path, line.file->sha256, line.file->size);
  std::string path = layout.dist_info + "/RECORD";
  wheel::append_record_line(text, std::string_view(path).substr(layout.site.size() + 1), {}, {});
  return written_file(std::move(path), std::move(text), false);
}

}  // namespace

Result<NewPackage> prepare_package(const plan::ResolvedPackage& package, WheelContents wheel,
                                   Layout layout, const std::optional<StoreEntry>& byte_code,
                                   const Environment& environment, bool requested) {
  auto shebang = render_shebang(environment.python);
  if (!shebang) return std::unexpected(shebang.error());
  const std::string version = wheel::render_version(package.version);
  NewPackage result{package.name,
                    fmt::format("{} {}", package.name, version),
                    wheel.tree,
                    {},
                    {package.name, version, package.filename,
                     index::redact_url(package.recorded_url()), wheel.sha256},
                    layout.dist_info,
                    {}};
  constexpr std::size_t own_files = 8;  // at most, beside scripts
  result.files.reserve(layout.files.size() + layout.scripts.size() + own_files);
  for (PlacedFile& placed : layout.files) {
    auto file = placed_file(wheel, placed, *shebang);
    if (!file) return std::unexpected(file.error());
    result.files.push_back(std::move(*file));
  }
  if (auto done = evaluate_metadata(package, wheel, layout, result); !done)
    return std::unexpected(done.error());
  const std::string scripts = layout.scripts_folder;
  for (const wheel::ScriptEntry& entry : layout.scripts) {
    result.files.push_back(
        written_file(scripts + "/" + entry.name, render_script(entry, *shebang), true));
  }
  result.files.push_back(written_file(layout.dist_info + "/INSTALLER", "axle\n", false));
  if (requested) result.files.push_back(written_file(layout.dist_info + "/REQUESTED", "", false));
  if (!package.family.empty() && package.variant) {
    const nlohmann::ordered_json label = {{"family", package.family}, {"label", *package.variant}};
    result.files.push_back(
        written_file(layout.dist_info + "/axle-family.json", label.dump() + "\n", false));
  }
  if (package.direct) {
    result.files.push_back(written_file(layout.dist_info + "/direct_url.json",
                                        render_direct_url(package, wheel.sha256), false));
  }
  result.files.push_back(make_record(result, layout));
  if (byte_code) add_byte_code(*byte_code, environment, result);
  return result;
}

}  // namespace axle::installer
