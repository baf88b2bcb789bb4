#include "installer/environment/site_snapshot.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "foundation/system/whole_file.h"
#include "installer/file_access.h"
#include "installer/sealed_fields.h"
#include "wheel/hash/sha256.h"

namespace axle::installer {
namespace {

constexpr std::string_view snapshot_header = "axle-site ";
constexpr std::string_view snapshot_version = "2";
constexpr std::uint64_t longest_snapshot = 256U << 20;

constexpr std::array kept_notes = {&MetadataFiles::variant, &MetadataFiles::family,
                                   &MetadataFiles::installer, &MetadataFiles::direct_url};

bool can_be_field(std::string_view text) { return !text.contains('\0'); }

/// States are several fields themselves.
bool can_be_kept(std::string_view name, const KeptMetadata& kept) {
  return can_be_field(name) && can_be_field(kept.files.metadata) &&
         std::ranges::all_of(kept_notes, [&](const auto note) {
           return can_be_field((kept.files.*note).value_or(""));
         });
}

std::optional<std::string> next_counted(std::string_view& rest) {
  std::size_t length = 0;
  if (!next_number(rest, length) || length > rest.size()) return std::nullopt;
  std::string text(rest.substr(0, length));
  rest.remove_prefix(length);
  return text;
}

/// "-" or "+" and the text.
bool next_note(std::string_view& rest, std::optional<std::string>& note) {
  const auto field = next_field(rest);
  if (!field || field->empty()) return false;
  if (field->front() == '+') note = field->substr(1);
  return field->front() == '+' || *field == "-";
}

bool next_flag(std::string_view& rest, bool& flag) {
  const auto field = next_field(rest);
  flag = field == "+";
  return flag || field == "-";
}

std::optional<KeptMetadata> next_kept(std::string_view& rest) {
  KeptMetadata kept;
  auto states = next_counted(rest);
  const auto metadata = states ? next_field(rest) : std::nullopt;
  if (!metadata) return std::nullopt;
  kept.states = std::move(*states);
  kept.files.metadata = *metadata;
  for (const auto note : kept_notes) {
    if (!next_note(rest, kept.files.*note)) return std::nullopt;
  }
  if (!next_flag(rest, kept.files.requested) || !next_flag(rest, kept.files.has_record))
    return std::nullopt;
  return kept;
}

std::string path_of(const std::string& cache_folder, const std::string& site) {
  return fmt::format("{}/installed/{}", cache_folder, wheel::render_hex(wheel::sha256(site)));
}

}  // namespace

std::string render_site_snapshot(const SiteSnapshot& snapshot, std::string_view site) {
  std::string text;
  append_field(text, std::string(snapshot_header).append(snapshot_version));
  append_field(text, site);
  for (const auto& [name, kept] : snapshot) {
    if (!can_be_kept(name, kept)) continue;
    append_field(text, name);
    append_number(text, kept.states.size());
    text += kept.states;
    append_field(text, kept.files.metadata);
    for (const auto note : kept_notes)
      append_field(text, kept.files.*note ? "+" + *(kept.files.*note) : "-");
    append_field(text, kept.files.requested ? "+" : "-");
    append_field(text, kept.files.has_record ? "+" : "-");
  }
  seal_fields(text, Seal::crc32);
  return text;
}

Result<SiteSnapshot> parse_site_snapshot(std::string_view text, std::string_view site,
                                         std::string_view where) {
  auto body = open_sealed_fields(text, snapshot_header, snapshot_version,
                                 "list of what is installed", where, Seal::crc32);
  if (!body) return std::unexpected(std::move(body.error()));
  std::string_view rest = *body;
  const auto its_site = next_field(rest);
  if (!its_site) return fail(ErrorKind::malformed, fmt::format("{}: it names no folder", where));
  if (*its_site != site)
    return fail(ErrorKind::mismatch, fmt::format("{}: it is of {}", where, *its_site));
  SiteSnapshot snapshot;
  while (!rest.empty()) {
    const auto name = next_field(rest);
    auto kept = name ? next_kept(rest) : std::nullopt;
    if (!kept) {
      return fail(ErrorKind::malformed,
                  fmt::format("{}: package {} is not valid", where, snapshot.size() + 1));
    }
    snapshot.insert_or_assign(std::string(*name), std::move(*kept));
  }
  return snapshot;
}

SiteSnapshot read_site_snapshot(const std::string& cache_folder, const std::string& site) {
  const std::string path = path_of(cache_folder, site);
  const auto text = read_file(path, longest_snapshot);
  if (!text) return {};
  return parse_site_snapshot(*text, site, path).value_or(SiteSnapshot());
}

void write_site_snapshot(const std::string& cache_folder, const std::string& site,
                         const SiteSnapshot& snapshot) {
  const std::string path = path_of(cache_folder, site);
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  (void)system::write_whole_file(path, render_site_snapshot(snapshot, site),
                                 {.flush = system::Flush::no});
}

}  // namespace axle::installer
