#include "builder/repack/source_wheel.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "builder/project_files.h"
#include "foundation/system/parallel.h"
#include "wheel/hash/sha256.h"
#include "wheel/record.h"

namespace axle::builder {

namespace {

constexpr std::uint64_t most_unpacked = 4ULL << 30;  ///< bytes of unpacked files at once

/// What is made anew, or is no longer true.
bool is_left_out(std::string_view path, const std::string& dist_info) {
  for (const char* name : {"/RECORD", "/RECORD.jws", "/RECORD.p7s", "/variant.json"}) {
    if (path == dist_info + name) return true;
  }
  return false;
}

wheel::RecordEntry record_of(const std::string& path, std::string_view content) {
  return {path, wheel::render_base64(wheel::sha256(content)), content.size(), {}};
}

Result<wheel::PackedMember> read_packed(wheel::ByteSource& raw, const wheel::ZipEntry& entry) {
  wheel::PackedMember member{entry.name,  {},         entry.method,
                             entry.crc32, entry.size, entry.executable};
  member.packed.resize(entry.compressed_size);
  auto read =
      raw.read(entry.data_offset,
               std::as_writable_bytes(std::span(member.packed.data(), member.packed.size())));
  if (!read) return std::unexpected(std::move(read).error());
  return member;
}

Result<void> check_made(std::string_view bytes, const std::string& file_name, Report& report) {
  const auto opened = wheel::open_wheel(wheel::memory_source(bytes), file_name, file_name, report);
  if (!opened) return std::unexpected(opened.error());
  const auto record = wheel::read_checked_record(*opened);
  if (!record) return std::unexpected(record.error());
  return {};
}

}  // namespace

Result<SourceWheel> SourceWheel::open(const std::string& path, Report& report, const Visit& visit) {
  auto source = wheel::open_file_source(path);
  if (!source) return std::unexpected(std::move(source).error());
  auto raw = wheel::open_file_source(path);
  if (!raw) return std::unexpected(std::move(raw).error());
  auto opened = wheel::open_wheel(std::move(*source),
                                  std::filesystem::path(path).filename().string(), path, report);
  if (!opened) return std::unexpected(std::move(opened).error());
  auto record = wheel::read_checked_record(*opened);
  if (!record) return std::unexpected(std::move(record).error());
  SourceWheel wheel(std::move(*opened));
  for (wheel::RecordEntry& entry : *record) {
    std::string name = entry.path;
    wheel.record_.emplace(std::move(name), std::move(entry));
  }
  if (auto done = wheel.read_all(**raw, visit); !done) return std::unexpected(done.error());
  for (const wheel::ZipEntry& entry : wheel.file_.archive.entries()) {
    const bool signs = entry.name.ends_with(".jws") || entry.name.ends_with(".p7s");
    if (signs && is_left_out(entry.name, wheel.file_.dist_info))
      report.note(fmt::format("{}: {} is left out: it signs the old RECORD", path, entry.name));
  }
  return wheel;
}

Result<void> SourceWheel::read_all(wheel::ByteSource& raw, const Visit& visit) {
  std::vector<const wheel::ZipEntry*> entries;
  for (const wheel::ZipEntry& entry : file_.archive.entries()) {
    if (!entry.directory) entries.push_back(&entry);
  }
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return entries[a]->size != entries[b]->size ? entries[a]->size > entries[b]->size : a < b;
  });
  std::vector<std::uint64_t> sizes;
  for (const std::size_t i : order) sizes.push_back(entries[i]->size);
  std::vector<std::optional<Result<wheel::PackedMember>>> read(entries.size());
  std::atomic<bool> failed = false;
  const unsigned threads =
      system::threads_within(sizes, system::usable_processors(), most_unpacked);
  system::for_each_at_once(order.size(), threads, [&](std::size_t i) {
    if (failed) return;
    const wheel::ZipEntry& entry = *entries[order[i]];
    auto& member = read[order[i]];
    member = read_packed(raw, entry);
    const auto content = this->read(entry.name);
    if (!content) {
      member = std::unexpected(content.error());
    } else if (auto seen = visit(entry, *content); !seen) {
      member = std::unexpected(std::move(seen).error());
    }
    if (!*member) failed = true;
  });
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!read[i]) continue;  // after a failure
    if (!*read[i]) return std::unexpected(std::move(*read[i]).error());
    if (!is_left_out(entries[i]->name, file_.dist_info)) members_.push_back(std::move(**read[i]));
  }
  return {};
}

Result<std::string> SourceWheel::read(const std::string& path) const {
  const wheel::ZipEntry* entry = file_.archive.find(path);
  if (entry == nullptr)
    return fail(ErrorKind::not_found, fmt::format("{}: no {}", file_.archive.where(), path));
  auto content = file_.archive.read_text(*entry, largest_member);
  if (!content) return content;
  const auto told = record_.find(path);
  if (told != record_.end() && !told->second.stronger_hash.empty()) {
    return fail(ErrorKind::unsupported,
                fmt::format("{}: RECORD gives only a sha384 or sha512 hash for {}, and only sha256 "
                            "can be verified here",
                            file_.archive.where(), path),
                "ask its publisher for a wheel whose RECORD has sha256 hashes");
  }
  if (told != record_.end() && !told->second.sha256.empty() &&
      told->second.sha256 != wheel::render_base64(wheel::sha256(*content))) {
    return fail(
        ErrorKind::mismatch,
        fmt::format("{}: {} is not what RECORD says: another sha256", file_.archive.where(), path),
        "download or build the wheel again");
  }
  return content;
}

Result<SourceWheel::Made> SourceWheel::make(const std::string& label,
                                            const wheel::VariantMetadata& metadata,
                                            const std::map<std::string, std::string>& replaced,
                                            std::uint64_t unix_time, Report& report) const {
  const auto own = wheel::only_variant(metadata, label);
  if (!own) return std::unexpected(own.error());
  const auto variant = wheel::render_variant_metadata(*own);
  if (!variant) return std::unexpected(variant.error());
  std::vector<wheel::PackedMember> made;
  made.reserve(replaced.size() + 2);
  std::vector<const wheel::PackedMember*> members;
  std::vector<wheel::RecordEntry> record;
  for (const wheel::PackedMember& member : members_) {
    const auto other = replaced.find(member.path);
    if (other == replaced.end()) {
      members.push_back(&member);
      record.push_back(record_.at(member.path));
      continue;
    }
    made.push_back(wheel::pack_member({member.path, other->second, member.executable}));
    members.push_back(&made.back());
    record.push_back(record_of(member.path, other->second));
  }
  const auto add = [&](const std::string& path, const std::string& content) {
    made.push_back(wheel::pack_member({path, content, false}));
    members.push_back(&made.back());
  };
  const std::string folder = file_.dist_info + "/";
  add(folder + "variant.json", *variant);
  record.push_back(record_of(folder + "variant.json", *variant));
  record.push_back({folder + "RECORD", {}, std::nullopt, {}});
  add(folder + "RECORD", wheel::render_record(record));
  auto bytes = wheel::write_packed_zip(members, unix_time);
  if (!bytes) return std::unexpected(std::move(bytes).error());
  wheel::WheelName name = file_.name;
  name.label = label;
  Made result{wheel::render_wheel_name(name), std::move(*bytes)};
  if (auto checked = check_made(result.bytes, result.file_name, report); !checked)
    return std::unexpected(std::move(checked).error());
  return result;
}

}  // namespace axle::builder
