// METADATA (core metadata 2.4), entry_points.txt and the licence files.

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "builder/project_files.h"
#include "builder/project_metadata.h"
#include "wheel/entry_points.h"

namespace axle::builder {

namespace fs = std::filesystem;

namespace {

using wheel::WheelMember;

void add_field(std::string& text, std::string_view field, std::string_view value) {
  if (!value.empty()) text += fmt::format("{}: {}\n", field, value);
}

// Continuation lines as in email headers, so that a licence text stays one field.
std::string fold(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\r') continue;
    text += c;
    if (c == '\n') text += "        ";
  }
  return text;
}

std::string render_headers(const ProjectMetadata& metadata, std::string_view license_text,
                           const std::vector<std::string>& license_files) {
  std::string text;
  add_field(text, "Metadata-Version", "2.4");
  add_field(text, "Name", metadata.name);
  add_field(text, "Version", wheel::render_version(metadata.version));
  add_field(text, "Summary", metadata.summary);
  std::string keywords;
  for (const std::string& keyword : metadata.keywords) {
    keywords += (keywords.empty() ? "" : ",") + keyword;
  }
  add_field(text, "Keywords", keywords);
  for (const auto& [field, value] : metadata.people) add_field(text, field, value);
  add_field(text, "License-Expression", metadata.license_expression);
  add_field(text, "License", fold(license_text));
  for (const std::string& file : license_files) add_field(text, "License-File", file);
  for (const std::string& classifier : metadata.classifiers) {
    add_field(text, "Classifier", classifier);
  }
  for (const auto& [label, url] : metadata.urls) {
    add_field(text, "Project-URL", fmt::format("{}, {}", label, url));
  }
  add_field(text, "Requires-Python", metadata.requires_python);
  for (const std::string& extra : metadata.extras) add_field(text, "Provides-Extra", extra);
  for (const std::string& requirement : metadata.requires_dist) {
    add_field(text, "Requires-Dist", requirement);
  }
  return text;
}

Result<std::string> read_named(const std::string& folder, const std::string& file) {
  auto path = inside_folder(folder, file);
  if (!path) return std::unexpected(path.error());
  return read_file(*path, largest_text);
}

// The listed files, else every file with a usual name (PEP 639, "license-files").
Result<std::vector<std::string>> find_license_files(const ProjectMetadata& metadata,
                                                    const std::string& folder) {
  std::vector<std::string> files;
  if (metadata.license_files_stated) {
    files = metadata.license_files;
    for (const std::string& file : files) {
      if (file.find_first_of("*?[") == std::string::npos) continue;
      return fail(ErrorKind::unsupported, fmt::format("license-files: \"{}\" is a pattern", file),
                  "list each file");
    }
  } else {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      const bool known = name.starts_with("LICEN") || name.starts_with("COPYING") ||
                         name.starts_with("NOTICE") || name.starts_with("AUTHORS");
      std::error_code ignored;
      if (known && it->is_regular_file(ignored)) files.push_back(name);
    }
  }
  if (!metadata.license_file.empty()) files.push_back(metadata.license_file);
  std::ranges::sort(files);
  const auto repeated = std::ranges::unique(files);
  files.erase(repeated.begin(), repeated.end());
  return files;
}

Result<std::string> read_description(const ProjectMetadata& metadata, const std::string& folder) {
  if (metadata.readme_file.empty()) return metadata.readme_text;
  return read_named(folder, metadata.readme_file);
}

std::string render_entry_points(const std::vector<EntryPointGroup>& groups) {
  std::string text;
  for (const EntryPointGroup& group : groups) {
    text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", group.name);
    for (const auto& [name, object] : group.entries) text += fmt::format("{} = {}\n", name, object);
  }
  return text;
}

}  // namespace

Result<std::vector<WheelMember>> render_dist_info(const ProjectMetadata& metadata,
                                                  const std::string& folder,
                                                  std::string_view dist_info) {
  std::vector<WheelMember> members;
  const auto licenses = find_license_files(metadata, folder);
  if (!licenses) return std::unexpected(licenses.error());
  for (const std::string& file : *licenses) {
    auto content = read_named(folder, file);
    if (!content) return std::unexpected(content.error());
    members.push_back({fmt::format("{}/licenses/{}", dist_info, file), std::move(*content), false});
  }
  const auto description = read_description(metadata, folder);
  if (!description) return std::unexpected(description.error());
  std::string text = render_headers(metadata, metadata.license_text, *licenses);
  if (!description->empty()) {
    add_field(text, "Description-Content-Type", metadata.readme_type);
    text += "\n" + *description;
  }
  members.push_back({fmt::format("{}/METADATA", dist_info), std::move(text), false});
  if (!metadata.entry_points.empty()) {
    std::string entry_points = render_entry_points(metadata.entry_points);
    // Names that no installer would accept must not be built.
    const auto scripts = wheel::parse_entry_points(entry_points, "entry_points.txt");
    if (!scripts) {
      return std::unexpected(
          within(folder + "/pyproject.toml: [project.scripts]", scripts.error()));
    }
    members.push_back(
        {fmt::format("{}/entry_points.txt", dist_info), std::move(entry_points), false});
  }
  return members;
}

}  // namespace axle::builder
