#include "index/publish/published_index.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "index/browse/list_pages.h"
#include "index/browse/project_page.h"
#include "index/http/local_files.h"
#include "index/http/url.h"
#include "index/pages/page.h"
#include "index/publish/change_journal.h"
#include "index/publish/index_pages.h"
#include "wheel/requirement.h"

namespace axle::index {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_page = std::uint64_t{1} << 30;

std::unexpected<Error> foreign(const std::string& path, std::string_view why) {
  return fail(ErrorKind::io, fmt::format("{} {}; everything is left as it is", path, why),
              "choose a place that does not exist yet or that only `variant index` and `variant "
              "mirror` write to, or move this file away");
}

constexpr std::string_view not_ours = "was not made by `variant index build`";

Result<std::vector<fs::path>> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    entries.push_back(entry->path());
  }
  if (error) {
    return fail(ErrorKind::io, fmt::format("cannot read {}: {}", folder.string(), error.message()),
                "check the path and its permissions");
  }
  std::ranges::sort(entries);
  return entries;
}

/// Links are not followed: an index build never writes one.
bool is_real(const fs::path& path, fs::file_type type) {
  std::error_code error;
  return fs::symlink_status(path, error).type() == type;
}

/// Adding and removing must not lose anything that they would not write again.
bool is_as_written(const PublishedFile& file) {
  const bool known = file.filename.ends_with(".whl") || file.filename.ends_with("-variants.json");
  return known && file.size;
}

/// A reader of pages on the network says it of their address.
Error damaged(const std::string& where, Error error) {
  if (error.kind != ErrorKind::malformed) return error;
  error.hint = fmt::format(
      "{} is damaged: restore it, or move its folder out of the index and publish the wheels that "
      "are in it again, with `variant index add` (what was yanked, and when files were uploaded, "
      "stands in that page alone)",
      where);
  return error;
}

Result<PublishedProject> read_project(const fs::path& folder, const std::set<std::string>& laid) {
  const fs::path page_path = folder / "index.json";
  if (!is_real(page_path, fs::file_type::regular)) return foreign(folder, not_ours);
  Result<std::string> text = read_local_file(page_path, largest_page);
  if (!text) return std::unexpected(std::move(text.error()));
  Result<PublishedProject> parsed =
      parse_published_page(std::move(*text), page_path.string(), file_url(page_path.string()));
  if (!parsed) return parsed;
  PublishedProject project = std::move(*parsed);
  project.folder = folder;
  std::set<std::string> written(project.files.begin(), project.files.end());
  written.insert(laid.begin(), laid.end());
  project.files.clear();
  const auto entries = entries_of(folder);
  if (!entries) return std::unexpected(entries.error());
  for (const fs::path& entry : *entries) {
    if (!written.contains(entry.filename()) || !is_real(entry, fs::file_type::regular)) {
      return foreign(entry, not_ours);
    }
    project.files.push_back(entry.filename());
  }
  return project;
}

/// What pages for people are made of: "index.html" that is ours, or the folder "page".
bool is_shown(const fs::path& entry) {
  if (entry.filename() == first_page && is_real(entry, fs::file_type::regular)) {
    const auto text = read_local_file(entry, largest_page);
    return text && is_our_page(*text);
  }
  if (entry.filename() != "page" || !is_real(entry, fs::file_type::directory)) return false;
  const auto files = entries_of(entry);
  return files && std::ranges::all_of(*files, [](const fs::path& file) {
           const std::string name = file.filename();
           const bool known = name == "script.js" || name == "style.css" || name == "machines.js" ||
                              is_list_page("page/" + name);
           return known && is_real(file, fs::file_type::regular);
         });
}

std::vector<std::string> names_in_lines(std::string_view text) {
  constexpr std::string_view begin = "\n   \"name\": \"";
  std::vector<std::string> names;
  for (std::size_t at = text.find(begin); at != std::string_view::npos; at = text.find(begin, at)) {
    at += begin.size();
    const std::size_t end = std::min(text.find('"', at), text.size());
    const std::string_view name = text.substr(at, end - at);
    const bool plain = name.find_first_of("\\\n") == std::string_view::npos &&
                       wheel::is_valid_name(name) && wheel::normalize_name(name) == name;
    if (!plain || (!names.empty() && names.back() >= name)) return {};
    names.emplace_back(name);
  }
  return names;
}

}  // namespace

ListedFile listed_file(const PublishedFile& file, std::string_view page_url) {
  ListedFile listed;
  listed.filename = file.filename;
  listed.sha256 = file.hash.sha256();
  listed.size = file.size.value_or(0);
  listed.requires_python = file.requires_python;
  listed.metadata_sha256 = file.metadata_sha256;
  listed.has_provenance = !file.provenance.empty();
  listed.uploaded = file.uploaded;
  if (file.yanked) listed.yanked = file.yanked_reason;
  const std::string beside = resolve_url(page_url, percent_encode(file.filename, false));
  if (file.url != beside) listed.url = file.url;
  if (listed.has_provenance && file.provenance != provenance_name(beside))
    listed.provenance_url = file.provenance;
  return listed;
}

Result<PublishedProject> parse_published_page(std::string text, const std::string& where,
                                              std::string_view url) {
  CollectedReport report;
  const Result<ProjectPage> page = parse_json_page(std::move(text), url, report);
  if (!page) return std::unexpected(damaged(where, page.error()));
  // A file that the reader would skip would be lost.
  if (!report.remarks.empty()) return foreign(where, "has an entry that cannot be read");
  PublishedProject project;
  std::set<std::string> written = {"index.json", "index.html", std::string(project_page_name)};
  for (const PublishedFile& file : page->files) {
    if (file.hash.sha256().empty()) {
      Error error = foreign(where, fmt::format("lists {} without a sha256", file.filename)).error();
      error.kind = ErrorKind::mismatch;
      return std::unexpected(std::move(error));
    }
    if (!is_as_written(file)) {
      return foreign(where,
                     fmt::format("lists {} in a different form than `variant index build` writes",
                                 file.filename));
    }
    project.listed.push_back(file.filename);
    ListedFile listed = listed_file(file, url);
    const bool is_here = listed.url.empty();
    const bool is_wheel = file.filename.ends_with(".whl");
    if (is_here) written.insert(file.filename);
    if (is_here && is_wheel) written.insert(file.filename + ".metadata");
    if (is_here && listed.has_provenance && listed.provenance_url.empty())
      written.insert(provenance_name(file.filename));
    (is_wheel ? project.wheels : project.variants).push_back(std::move(listed));
  }
  project.files.assign(written.begin(), written.end());
  return project;
}

Result<std::vector<std::string>> parse_published_root(std::string_view text,
                                                      const std::string& where) {
  // Ours, which may have a hundred thousand names, is what we would write.
  if (std::vector<std::string> names = names_in_lines(text); render_root_json(names) == text)
    return names;
  const nlohmann::json page = nlohmann::json::parse(text, nullptr, false);
  const auto list = page.is_object() ? page.find("projects") : page.end();
  if (!page.is_object() || list == page.end() || !list->is_array()) return foreign(where, not_ours);
  std::vector<std::string> names;
  for (const nlohmann::json& project : *list) {
    const auto name = project.is_object() ? project.find("name") : project.end();
    const bool named = project.is_object() && name != project.end() && name->is_string();
    if (!named || !wheel::is_valid_name(name->get_ref<const std::string&>()) ||
        wheel::normalize_name(name->get_ref<const std::string&>()) !=
            name->get_ref<const std::string&>())
      return foreign(where, not_ours);
    names.push_back(*name);
  }
  std::ranges::sort(names);
  return names;
}

Result<PublishedIndex> read_published_index(const std::string& folder) {
  PublishedIndex index;
  std::error_code error;
  const fs::file_status status = fs::symlink_status(folder, error);
  if (status.type() == fs::file_type::not_found) return index;
  if (!fs::is_directory(status)) return foreign(folder, "is not a folder");
  const auto top = entries_of(folder);
  if (!top) return std::unexpected(top.error());
  if (top->empty()) return index;
  const fs::path simple = fs::path(folder) / "simple";
  for (const fs::path& entry : *top) {
    if (entry != simple && entry.filename() != change_folder_name && !is_shown(entry))
      return foreign(entry, not_ours);
  }
  if (!is_real(simple, fs::file_type::directory) ||
      !is_real(simple / "index.json", fs::file_type::regular)) {
    return foreign(simple, not_ours);
  }
  const auto entries = entries_of(simple);
  if (!entries) return std::unexpected(entries.error());
  for (const fs::path& entry : *entries) {
    const std::string name = entry.filename();
    const bool page = name == "index.json" || name == "index.html";
    if (page && is_real(entry, fs::file_type::regular)) continue;
    if (page || name != wheel::normalize_name(name) || !is_real(entry, fs::file_type::directory)) {
      return foreign(entry, not_ours);
    }
    Result<PublishedProject> project = read_project(entry, {});
    if (!project) return std::unexpected(std::move(project.error()));
    index.emplace(name, std::move(*project));
  }
  return index;
}

Result<std::optional<PublishedProject>> read_published_project(const std::string& folder,
                                                               const std::set<std::string>& laid) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(folder, error);
  if (status.type() == fs::file_type::not_found) return std::nullopt;
  if (!fs::is_directory(status)) return foreign(folder, "is not a folder");
  if (!laid.empty() && !fs::exists(fs::symlink_status(fs::path(folder) / "index.json", error))) {
    const auto entries = entries_of(folder);
    if (!entries) return std::unexpected(entries.error());
    for (const fs::path& entry : *entries) {
      if (!laid.contains(entry.filename()) || !is_real(entry, fs::file_type::regular))
        return foreign(entry, not_ours);
    }
    return std::nullopt;
  }
  return read_project(folder, laid);
}

Result<std::optional<std::vector<std::string>>> read_published_names(const std::string& folder) {
  const std::string page = folder + "/simple/index.json";
  Result<std::string> text = read_local_file(page, largest_page);
  if (text) return parse_published_root(*text, page);
  if (text.error().kind != ErrorKind::not_found) return std::unexpected(std::move(text.error()));
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder, error))) return std::nullopt;
  const auto top = entries_of(folder);
  if (!top) return std::unexpected(top.error());
  for (const fs::path& entry : *top) {
    if (entry.filename() != change_folder_name) return foreign(entry, not_ours);
  }
  return std::nullopt;
}

Result<std::vector<std::string>> list_project_folders(const std::string& folder) {
  const fs::path simple = fs::path(folder) / "simple";
  std::vector<std::string> names;
  std::error_code error;
  if (!fs::exists(simple, error)) return names;
  const auto entries = entries_of(simple);
  if (!entries) return std::unexpected(entries.error());
  for (const fs::path& entry : *entries) {
    std::string name = entry.filename();
    if (name == "index.json" || name == "index.html") continue;
    if (name != wheel::normalize_name(name) || !is_real(entry, fs::file_type::directory))
      return foreign(entry, not_ours);
    names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace axle::index
