#include "installer/transaction/new_package.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "index/http/redaction.h"
#include "installer/environment/evaluated_metadata.h"
#include "installer/environment/scripts.h"
#include "installer/file_access.h"
#include "wheel/hash/sha256.h"
#include "wheel/record.h"

namespace axle::installer {
namespace {

NewFile written_file(std::string target, std::string content, bool executable) {
  NewFile file{std::move(target), {}, std::move(content), executable, {}, 0, 0};
  file.sha256 = wheel::render_base64(wheel::sha256(file.content));
  file.size = file.content.size();
  return file;
}

/// PEP 610.
std::string render_direct_url(const plan::ResolvedPackage& package, const std::string& sha256) {
  nlohmann::ordered_json archive = nlohmann::ordered_json::object();
  if (!sha256.empty()) {
    archive["hash"] = "sha256=" + sha256;
    archive["hashes"] = {{"sha256", sha256}};
  }
  nlohmann::ordered_json document = {{"url", index::redact_url(package.url)},
                                     {"archive_info", archive}};
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string record_path(const std::string& site, const std::string& target) {
  if (contains_path(site, target)) return target.substr(site.size() + 1);
  return std::filesystem::path(target).lexically_relative(site).generic_string();
}

Result<NewFile> placed_file(const WheelContents& wheel, const PlacedFile& placed,
                            const std::string& shebang) {
  const StoredFile& stored = wheel.manifest.files[placed.stored];
  if (placed.script) {
    constexpr std::uint64_t shebang_limit = 64U << 20;  // a longer script is a program
    if (stored.size <= shebang_limit) {
      auto text = wheel.read_script(stored.path, shebang_limit);
      if (!text) return std::unexpected(text.error());
      if (auto rewritten = *text ? rewrite_script(**text, shebang) : std::nullopt)
        return written_file(placed.target, std::move(*rewritten), true);
      // Links would share the store's permissions; a script is executable whatever the archive
      // contains.
      if (*text && !stored.executable) return written_file(placed.target, std::move(**text), true);
    }
  }
  return NewFile{placed.target, stored.path, {},          stored.executable,
                 stored.sha256, stored.size, stored.mode, stored.modified_now};
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

NewFile make_record(const NewPackage& package, const Layout& layout) {
  std::vector<wheel::RecordEntry> entries;
  for (const NewFile& file : package.files) {
    entries.push_back({record_path(layout.site, file.target), file.sha256, file.size});
  }
  std::ranges::sort(entries, {}, &wheel::RecordEntry::path);
  const std::string path = layout.dist_info + "/RECORD";
  entries.push_back({record_path(layout.site, path), {}, {}});
  return written_file(path, wheel::render_record(entries), false);
}

}  // namespace

Result<NewPackage> prepare_package(const plan::ResolvedPackage& package, const WheelContents& wheel,
                                   const Layout& layout, const Environment& environment,
                                   bool requested) {
  auto shebang = render_shebang(environment.python);
  if (!shebang) return std::unexpected(shebang.error());
  NewPackage result{package.name,
                    fmt::format("{} {}", package.name, wheel::render_version(package.version)),
                    wheel.tree,
                    {}};
  for (const PlacedFile& placed : layout.files) {
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
  return result;
}

}  // namespace axle::installer
