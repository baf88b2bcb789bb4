#include "doctor/audit/dist_info_reading.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "doctor/audit/library_reading.h"
#include "foundation/system/whole_file.h"
#include "foundation/text/ascii.h"
#include "wheel/core_metadata.h"
#include "wheel/record.h"
#include "wheel/variant/abi_dependency.h"

namespace axle::doctor {
namespace {

constexpr std::uint64_t largest_dist_info_text = 256ULL << 20;  ///< bytes of a RECORD

/// One that is there and cannot be read is added to `unread`.
std::optional<std::string> read_text(const std::string& folder, const std::string& name,
                                     std::vector<UnreadLibrary>& unread) {
  const std::string path = folder + "/" + name;
  const std::string shown = path.substr(path.rfind('/', folder.size() - 1) + 1);
  const auto source = wheel::open_file_source(path);
  if (!source) {
    if (source.error().kind != ErrorKind::not_found)
      unread.push_back(unread_library(shown, source.error()));
    return std::nullopt;
  }
  if ((*source)->size() > largest_dist_info_text) {
    unread.push_back(too_large_library(shown, (*source)->size()));
    return std::nullopt;
  }
  std::string text((*source)->size(), '\0');
  const std::span<char> room(text);
  if (const auto read = (*source)->read(0, std::as_writable_bytes(room)); !read) {
    unread.push_back(unread_library(shown, read.error()));
    return std::nullopt;
  }
  return text;
}

void read_variant(const std::string& text, const std::string& where, Audited& audited,
                  Report& report) {
  const auto document = wheel::parse_variant_metadata(text, where + "/variant.json", report);
  if (!document) {
    audited.faults.push_back(document.error().message);
    return;
  }
  if (document->variants.size() != 1) return;
  const auto& [label, properties] = *document->variants.begin();
  Declaration& declared = *audited.declaration;
  declared.label = label;
  declared.properties = properties;
  declared.abi_dependency = !wheel::abi_needs(*document, properties).empty();
  audited.title += fmt::format(" ({})", label);
}

}  // namespace

std::vector<wheel::Tag> tags_of_wheel_file(std::string_view text) {
  constexpr std::string_view key = "Tag:";
  std::vector<wheel::Tag> tags;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with(key)) continue;
    if (auto more = wheel::parse_tags(text::trim_ascii(line.substr(key.size())))) {
      for (wheel::Tag& tag : *more) tags.push_back(std::move(tag));
    }
  }
  return tags;
}

Audited audited_package(const DistInfoTexts& texts, const std::string& where, Report& report) {
  Audited audited;
  audited.kind = AuditedKind::package;
  audited.place = where;
  audited.title = where;
  if (!texts.metadata) {
    audited.faults.push_back(where + ": no METADATA");
    return audited;
  }
  const auto metadata = wheel::parse_core_metadata(*texts.metadata, where + "/METADATA");
  if (!metadata) {
    audited.faults.push_back(metadata.error().message);
    return audited;
  }
  Declaration declared;
  declared.name = wheel::normalize_name(metadata->name);
  declared.version = wheel::render_version(metadata->version);
  declared.requirements = metadata->requires_dist;
  declared.requires_python = metadata->requires_python;
  if (texts.wheel) declared.tags = tags_of_wheel_file(*texts.wheel);
  audited.title = fmt::format("{} {}", declared.name, declared.version);
  audited.declaration = std::move(declared);
  if (texts.record) {
    for (wheel::RecordEntry& entry : wheel::salvage_record(*texts.record))
      audited.files.push_back(std::move(entry.path));
  }
  if (texts.variant) read_variant(*texts.variant, where, audited, report);
  return audited;
}

Audited read_dist_info(const std::string& folder, Report& report) {
  std::vector<UnreadLibrary> unread;
  const auto text = [&](const char* name) { return read_text(folder, name, unread); };
  Audited audited = audited_package(
      {text("METADATA"), text("WHEEL"), text("RECORD"), text("variant.json")}, folder, report);
  std::ranges::move(unread, std::back_inserter(audited.unread));
  return audited;
}

}  // namespace axle::doctor
