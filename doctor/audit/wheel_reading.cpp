#include "doctor/audit/wheel_reading.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "doctor/audit/large_buffer.h"
#include "doctor/audit/library_reading.h"
#include "foundation/elf/elf_tables.h"
#include "foundation/system/parallel.h"
#include "wheel/hash/sha256.h"
#include "wheel/variant/abi_dependency.h"
#include "wheel/wheel_file.h"

namespace axle::doctor {
namespace {

constexpr std::uint64_t most_in_memory = 4ULL << 30;  ///< bytes of libraries at once

Declaration declaration_of(const wheel::WheelFile& file) {
  Declaration declared;
  declared.name = wheel::normalize_name(file.name.distribution);
  declared.version = wheel::render_version(file.name.version);
  declared.tags = file.name.tags;
  declared.label = file.name.label;
  declared.requirements = file.metadata.requires_dist;
  declared.requires_python = file.metadata.requires_python;
  if (!file.variant) return declared;
  const auto known = file.variant->variants.find(file.name.label);
  if (known == file.variant->variants.end()) return declared;
  declared.properties = known->second;
  declared.abi_dependency = !wheel::abi_needs(*file.variant, declared.properties).empty();
  return declared;
}

/// The path that a member has relative to site-packages; of scripts and data its own.
std::string installed_path(const std::string& member) {
  const std::size_t folder = member.find(".data/");
  if (folder == std::string::npos || member.find('/') < folder) return member;
  const std::string_view rest = std::string_view(member).substr(folder + 6);
  for (const std::string_view scheme : {"platlib/", "purelib/"}) {
    if (rest.starts_with(scheme)) return std::string(rest.substr(scheme.size()));
  }
  return member;
}

/// Unpacks the members of one wheel.
class MemberReader {
 public:
  MemberReader(const wheel::WheelFile& file, Audited& audited) : file_(file), audited_(audited) {
    for (const wheel::ZipEntry& entry : file.archive.entries()) {
      if (entry.directory) continue;
      members_.push_back(&entry);
      audited.files.push_back(installed_path(entry.name));
      audited.size += entry.size;
    }
    std::ranges::sort(members_, [](const wheel::ZipEntry* left, const wheel::ZipEntry* right) {
      return left->size > right->size;
    });
  }

  void expect(const std::vector<wheel::RecordEntry>& record) {
    for (const wheel::RecordEntry& entry : record) expected_.try_emplace(entry.path, &entry);
  }

  void run() {
    std::vector<std::uint64_t> sizes;
    for (const wheel::ZipEntry* member : members_) sizes.push_back(member->size);
    const unsigned processors = system::usable_processors();
    const unsigned readers = readers_for(sizes, processors);
    const unsigned each = std::max(1U, processors / readers);
    system::for_each_at_once(members_.size(), readers,
                             [&](std::size_t i) { read(*members_[i], each); });
    std::ranges::sort(audited_.faults);
    sort_libraries(audited_);
  }

 private:
  struct Content {
    bool begun = false;
    std::optional<LargeBuffer> library;  ///< nullopt: it is none
    bool too_large = false;
    wheel::Sha256 hash;
  };

  Result<void> take(const wheel::ZipEntry& member, std::span<const std::byte> bytes,
                    Content& content) const {
    if (!content.begun) {
      content.begun = true;
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (elf::is_elf(text)) {
        content.too_large = member.size > largest_audited_library;
        if (!content.too_large) content.library.emplace(member.size);
        if (content.library && !content.library->ok()) content.too_large = true;
      }
    }
    content.hash.update(bytes);
    if (content.library && !content.too_large) (void)content.library->append(bytes);
    return {};
  }

  void read(const wheel::ZipEntry& member, unsigned threads) {
    Content content;
    const auto done = file_.archive.read(
        member, [&](std::span<const std::byte> bytes) { return take(member, bytes, content); });
    if (!done) return add_fault(done.error().message);
    compare(member, content.hash);
    const std::string path = installed_path(member.name);
    if (content.too_large) return add(too_large_library(path, member.size));
    if (content.library) add(read_audited_library(path, content.library->view(), threads));
  }

  void compare(const wheel::ZipEntry& member, wheel::Sha256& hash) {
    const auto entry = expected_.find(member.name);
    if (entry == expected_.end() || entry->second->sha256.empty()) return;
    if (wheel::render_base64(hash.finish()) != entry->second->sha256)
      add_fault(fmt::format("{}: another content than its hash in RECORD", member.name));
  }

  void add(ReadLibrary library) {
    const std::lock_guard lock(mutex_);
    add_library(audited_, std::move(library));
  }
  void add_fault(std::string fault) {
    const std::lock_guard lock(mutex_);
    audited_.faults.push_back(std::move(fault));
  }

  const wheel::WheelFile& file_;
  Audited& audited_;
  std::vector<const wheel::ZipEntry*> members_;
  std::map<std::string_view, const wheel::RecordEntry*> expected_;
  std::mutex mutex_;
};

}  // namespace

unsigned readers_for(const std::vector<std::uint64_t>& largest_first, unsigned processors) {
  return system::threads_within(largest_first, processors, most_in_memory);
}

Result<Audited> read_audited_wheel(const std::string& path, Report& report) {
  auto source = wheel::open_file_source(path);
  if (!source) return std::unexpected(std::move(source).error());
  Audited audited;
  audited.kind = AuditedKind::wheel;
  audited.place = path;
  const std::string name = std::filesystem::path(path).filename().string();
  audited.title = name;
  const auto file = wheel::open_wheel(std::move(*source), name, path, report);
  if (!file) {
    if (file.error().kind == ErrorKind::io) return std::unexpected(file.error());
    audited.faults.push_back(file.error().message);
    return audited;
  }
  audited.declaration = declaration_of(*file);
  audited.title = fmt::format("{} {}", audited.declaration->name, audited.declaration->version);
  if (file->name.is_variant()) audited.title += fmt::format(" ({})", file->name.label);
  MemberReader reader(*file, audited);
  const auto record = wheel::read_checked_record(*file);
  if (record) {
    reader.expect(*record);
  } else {
    audited.faults.push_back(record.error().message);
  }
  reader.run();
  return audited;
}

}  // namespace axle::doctor
