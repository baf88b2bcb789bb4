#include "builder/wheel_contents.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fnmatch.h>

#include "binaries/linkage.h"
#include "builder/platform_tag.h"
#include "builder/project_files.h"
#include "wheel/hash/sha256.h"
#include "wheel/specifier.h"
#include "wheel/wheel_file.h"

namespace axle::builder {

namespace fs = std::filesystem;

namespace {

std::string generator_of(const std::string& text) {
  constexpr std::string_view field = "Generator: ";
  const std::size_t begin = text.find(field);
  if (begin == std::string::npos) return {};
  const std::size_t end = text.find_first_of("\r\n", begin);
  return text.substr(begin + field.size(),
                     end == std::string::npos ? end : end - begin - field.size());
}

/// Files that the writer makes anew, or that would no longer be true.
bool is_made_anew(std::string_view path, const std::string& dist_info) {
  for (const char* name : {"/RECORD", "/RECORD.jws", "/RECORD.p7s", "/WHEEL", "/variant.json"}) {
    if (path == dist_info + name) return true;
  }
  return false;
}

}  // namespace

Result<WheelContents> read_wheel_contents(const std::string& path, Report& report) {
  auto source = wheel::open_file_source(path);
  if (!source) return std::unexpected(source.error());
  const auto opened =
      wheel::open_wheel(std::move(*source), fs::path(path).filename().string(), path, report);
  if (!opened) return std::unexpected(opened.error());
  const auto record = wheel::read_checked_record(*opened);
  if (!record) return std::unexpected(record.error());
  std::map<std::string_view, const wheel::RecordEntry*> listed;
  for (const wheel::RecordEntry& entry : *record) listed[entry.path] = &entry;
  WheelContents contents;
  contents.name = opened->name;
  contents.dist_info = opened->dist_info;
  contents.purelib = opened->purelib;
  contents.requires_python = wheel::render_specifiers(opened->metadata.requires_python);
  contents.label = opened->name.label;
  for (const wheel::ZipEntry& entry : opened->archive.entries()) {
    if (entry.directory) continue;
    auto text = opened->archive.read_text(entry, largest_member);
    if (!text) return std::unexpected(text.error());
    const auto told = listed.find(entry.name);
    if (told != listed.end() && !told->second->sha256.empty() &&
        told->second->sha256 != wheel::render_base64(wheel::sha256(*text))) {
      return fail(ErrorKind::mismatch,
                  fmt::format("{}: {} is not what RECORD says: another sha256", path, entry.name));
    }
    if (entry.name == contents.dist_info + "/WHEEL") contents.generator = generator_of(*text);
    if (is_made_anew(entry.name, contents.dist_info)) continue;
    contents.members.push_back({entry.name, std::move(*text), entry.executable});
  }
  return contents;
}

void name_modules_for(const std::string& architecture, std::vector<wheel::WheelMember>& members) {
  for (wheel::WheelMember& member : members) {
    const std::size_t name = member.path.rfind('/') + 1;
    const std::string_view own = std::string_view(member.path).substr(name);
    if (binaries::names_other_architecture(own, architecture) &&
        architecture_of_library(member.content) == architecture)
      member.path = member.path.substr(0, name) + binaries::module_name_for(own, architecture);
  }
}

Result<std::string> find_wheel(const std::string& folder, const std::string& pattern) {
  const auto whole = inside_folder(folder, pattern);
  if (!whole) return std::unexpected(within("wheel", whole.error()));
  const fs::path path(*whole);
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(path.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (::fnmatch(path.filename().c_str(), name.c_str(), FNM_PERIOD) == 0)
      found.push_back(it->path().string());
  }
  if (found.size() == 1) return found.front();
  if (found.empty())
    return fail(ErrorKind::not_found, fmt::format("wheel: {}: no such file", *whole));
  std::ranges::sort(found);
  return fail(
      ErrorKind::malformed,
      fmt::format("wheel: {} is {} files: {} and {}", pattern, found.size(), found[0], found[1]),
      "name one of them");
}

}  // namespace axle::builder
