#include "installer/store/store.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/parallel.h"
#include "index/http/url.h"
#include "index/pages/range_source.h"
#include "installer/file_access.h"
#include "installer/file_hash.h"
#include "installer/store/download.h"
#include "installer/store/entry.h"
#include "installer/store/entry_mark.h"
#include "installer/store/obtained_wheel.h"
#include "installer/store/partial_wheel.h"
#include "installer/store/unpack.h"
#include "installer/store/wheel_facts.h"
#include "installer/work_folder.h"
#include "wheel/requirement.h"
#include "wheel/wheel_file.h"

namespace axle::installer {
namespace {

std::string entry_folder(const std::string& store, const std::string& sha256) {
  return fmt::format("{}/wheels/{}", store, sha256);
}

std::optional<WheelContents> find_wheel(const std::string& store, const std::string& sha256,
                                        const std::string& file_name, EntryCheck entry_check,
                                        Report& report) {
  std::string changed;
  auto entry = find_entry(entry_folder(store, sha256), entry_check, &changed);
  if (!changed.empty()) {
    report.warn(
        fmt::format("{} of {} was changed in the store since it was unpacked, so the wheel is "
                    "unpacked again",
                    changed, file_name),
        "a file that is a link to it was perhaps edited: `variant check` shows it in each "
        "environment that has it, and --link-mode copy keeps files apart");
  }
  if (!entry) return std::nullopt;
  return WheelContents{std::move(entry->manifest), std::move(entry->tree), sha256};
}

/// The hash becomes part of a path, so it must be 64 lower-case hexadecimal digits.
Result<void> check_hash_form(const plan::ResolvedPackage& package) {
  const std::string_view sha256 = package.hash.sha256();
  if (sha256.empty()) return {};
  const bool digits = std::ranges::all_of(
      sha256, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (digits && sha256.size() == 64) return {};
  return fail(ErrorKind::malformed, fmt::format("{} gives '{}' as the sha256 of {}", package.source,
                                                sha256, package.filename));
}

/// The file name must match what the resolver chose.
Result<void> check_name(const plan::ResolvedPackage& package) {
  const wheel::WheelName& name = package.wheel_name;
  if (wheel::normalize_name(name.distribution) != package.name || name.version != package.version) {
    return fail(ErrorKind::mismatch, fmt::format("{} is not {} {}", package.filename, package.name,
                                                 wheel::render_version(package.version)));
  }
  return {};
}

/// The wheel must contain what the index's metadata said. A build of an index family has a label,
/// but no variant metadata.
Result<void> check_variant(const plan::ResolvedPackage& package,
                           const std::optional<wheel::VariantMetadata>& own) {
  if (!package.variant || !package.family.empty()) return {};
  if (!own) {
    return fail(ErrorKind::mismatch,
                fmt::format("{} was chosen as the variant '{}', but it has no variant.json",
                            package.filename, *package.variant),
                "the wheel is wrong: it was not installed");
  }
  const auto properties = own->variants.find(*package.variant);
  if (properties != own->variants.end() && properties->second == package.variant_properties)
    return {};
  return fail(
      ErrorKind::mismatch,
      fmt::format("{}: its variant.json differs for '{}' from {}", package.filename,
                  *package.variant,
                  package.decision.metadata_source.empty() ? package.source
                                                           : package.decision.metadata_source),
      "the index or the wheel is wrong: it was not installed");
}

/// The hashes under which the store may have the wheel before any of it is read: the index's, if
/// the user lists none or lists it too; otherwise the user's.
std::vector<std::string> trusted_sha256s(const plan::ResolvedPackage& package,
                                         index::Transport& transport) {
  std::vector<std::string> listed;
  for (const wheel::ListedHash& hash : package.listed_hashes) {
    if (hash.algorithm == "sha256") listed.push_back(hash.digits);
  }
  const std::string given(package.hash.sha256());
  if (given.empty()) return listed;
  if (!package.listed_hashes.empty()) {
    const bool known = std::ranges::find(listed, given) != listed.end();
    return known ? std::vector{given} : std::vector<std::string>();
  }
  if (is_first_download(package) && index::seems_changed(package.url, transport)) return {};
  return {given};
}

Result<WheelContents> enter_wheel(const std::string& store, const WorkFolder& work,
                                  const std::string& made, const std::string& sha256,
                                  Manifest manifest, EntryCheck entry_check) {
  auto entry = enter(made, entry_folder(store, sha256), std::move(manifest), work, entry_check);
  if (!entry) return std::unexpected(std::move(entry.error()));
  return WheelContents{std::move(entry->manifest), std::move(entry->tree), sha256};
}

/// The entry, if it has the wheel of `package` and `check` accepts it.
Result<std::optional<WheelContents>> take_entry(const std::string& store, const std::string& sha256,
                                                const plan::ResolvedPackage& package,
                                                const WheelCheck& check, EntryCheck entry_check,
                                                Report& report) {
  std::optional<WheelContents> stored =
      find_wheel(store, sha256, package.filename, entry_check, report);
  if (!stored || stored->manifest.file_name != package.filename) return std::nullopt;
  if (package.variant) {
    const std::string path = stored->tree + "/" + stored->manifest.dist_info + "/variant.json";
    auto text = read_file(path, 16U << 20);
    std::optional<wheel::VariantMetadata> own;
    if (text) {
      auto parsed = wheel::parse_variant_metadata(*text, path, report);
      if (!parsed) return std::unexpected(parsed.error());
      own = std::move(*parsed);
    } else if (text.error().kind != ErrorKind::not_found) {
      return std::unexpected(text.error());
    }
    if (auto same = check_variant(package, own); !same) return std::unexpected(same.error());
  }
  const std::string path = stored->tree + "/" + stored->manifest.dist_info + "/METADATA";
  auto metadata = read_file(path, 16U << 20);
  if (!metadata) return std::unexpected(metadata.error());
  if (auto good = check(stored->manifest, *metadata); !good) return std::unexpected(good.error());
  return stored;
}

/// The entry with one of the hashes.
Result<std::optional<WheelContents>> take_trusted(const std::string& store,
                                                  const std::vector<std::string>& trusted,
                                                  const plan::ResolvedPackage& package,
                                                  const WheelCheck& check, EntryCheck entry_check,
                                                  Report& report) {
  for (const std::string& sha256 : trusted) {
    auto stored = take_entry(store, sha256, package, check, entry_check, report);
    if (!stored || *stored) return stored;
  }
  return std::nullopt;
}

/// A wheel of which all was checked that can be told without unpacking it.
struct CheckedWheel {
  wheel::WheelFile wheel;
  Manifest manifest;
};

/// `directory_only`: as of wheel::open_wheel.
Result<CheckedWheel> open_checked(std::unique_ptr<wheel::ByteSource> source,
                                  const plan::ResolvedPackage& package, const WheelCheck& check,
                                  bool directory_only, Report& report) {
  auto wheel = wheel::open_wheel(std::move(source), package.wheel_name, package.filename, report,
                                 directory_only);
  if (!wheel) return std::unexpected(wheel.error());
  if (auto same = check_variant(package, wheel->variant); !same)
    return std::unexpected(same.error());
  auto manifest = plan_unpacking(*wheel, package.filename);
  if (!manifest) return std::unexpected(manifest.error());
  if (auto good = check(*manifest, wheel->metadata_text); !good)
    return std::unexpected(good.error());
  return CheckedWheel{std::move(*wheel), std::move(*manifest)};
}

Result<WheelContents> add_entry(const std::string& store, const plan::ResolvedPackage& package,
                                WheelBytes& bytes, const WheelCheck& check, EntryCheck entry_check,
                                Report& report, const std::stop_token& stop) {
  auto opened = open_checked(std::move(bytes.source), package, check, false, report);
  if (!opened) return std::unexpected(opened.error());
  Manifest& manifest = opened->manifest;
  if (!bytes.work) {
    auto created = WorkFolder::create(store);
    if (!created) return std::unexpected(created.error());
    bytes.work.emplace(std::move(*created));
  }
  const auto made = make_entry(bytes.work->path());
  if (!made) return std::unexpected(made.error());
  if (auto done = unpack_wheel(opened->wheel, *made + "/tree", manifest, report, stop); !done) {
    return std::unexpected(done.error());
  }
  return enter_wheel(store, *bytes.work, *made, bytes.mark.sha256, std::move(manifest),
                     entry_check);
}

Result<std::unique_ptr<wheel::ByteSource>> open_for_listing(const plan::ResolvedPackage& package,
                                                            index::Transport& transport) {
  if (package.url.starts_with("file:")) {
    auto path = index::file_path(package.url);
    if (!path) return std::unexpected(path.error());
    return wheel::open_file_source(*path);
  }
  auto source = index::open_ranges(package.url, transport);
  if (source && !*source)
    return fail(ErrorKind::unsupported, "its server does not support byte ranges");
  return source;
}

}  // namespace

Result<std::string> WheelContents::read(const std::string& path, std::uint64_t limit) const {
  if (archive == nullptr) return read_file(tree + "/" + path, limit);
  const wheel::ZipEntry* entry = archive->archive.find(path);
  if (entry == nullptr)
    return fail(ErrorKind::not_found, fmt::format("{}: {} is missing", manifest.file_name, path));
  return archive->archive.read_text(*entry, limit);
}

Result<std::optional<std::string>> WheelContents::read_script(const std::string& path,
                                                              std::uint64_t limit) const {
  constexpr std::string_view start = "#!python";
  const wheel::ZipEntry* entry = archive == nullptr ? nullptr : archive->archive.find(path);
  if (entry != nullptr) {
    std::string beginning;
    const auto stopped = archive->archive.read(*entry, [&](auto bytes) -> Result<void> {
      beginning.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (beginning.size() < start.size()) return {};
      return fail(ErrorKind::unsupported, "enough was read");
    });
    if (!stopped && beginning.size() < start.size()) return std::unexpected(stopped.error());
    if (!beginning.starts_with(start)) return std::nullopt;
  }
  return read(path, limit);
}

Result<WheelFacts> read_wheel_facts(const std::string& folder, const plan::ResolvedPackage& package,
                                    index::Transport& transport, Report& report) {
  const WheelCheck any = [](const Manifest&, std::string_view) -> Result<void> { return {}; };
  auto bytes = obtain_wheel(folder, package, transport, nullptr, any, report, {});
  if (!bytes) return std::unexpected(bytes.error());
  auto opened = open_checked(std::move(bytes->source), package, any, false, report);
  if (!opened) return std::unexpected(opened.error());
  return WheelFacts{std::move(opened->wheel.metadata_text), std::move(bytes->mark.sha256)};
}

Result<std::optional<WheelContents>> find_stored(const std::string& store,
                                                 const plan::ResolvedPackage& package,
                                                 index::Transport& transport,
                                                 const WheelCheck& check, EntryCheck entry_check,
                                                 Report& report) {
  if (auto good = check_hash_form(package); !good) return std::unexpected(good.error());
  if (auto good = check_name(package); !good) return std::unexpected(good.error());
  if (store.empty()) return std::nullopt;
  return take_trusted(store, trusted_sha256s(package, transport), package, check, entry_check,
                      report);
}

Result<WheelContents> acquire_wheel(const std::string& store, const plan::ResolvedPackage& package,
                                    index::Transport& transport, const WheelCheck& check,
                                    EntryCheck entry_check, Report& report,
                                    const std::stop_token& stop, ListedWheel* listed) {
  if (auto good = check_hash_form(package); !good) return std::unexpected(good.error());
  if (auto good = check_name(package); !good) return std::unexpected(good.error());
  const std::vector<std::string> trusted = trusted_sha256s(package, transport);
  auto stored = take_trusted(store, trusted, package, check, entry_check, report);
  if (!stored) return std::unexpected(stored.error());
  if (*stored) return std::move(**stored);
  auto bytes = obtain_wheel(store, package, transport, listed, check, report, stop);
  if (!bytes) return std::unexpected(bytes.error());
  if (std::ranges::find(trusted, bytes->mark.sha256) == trusted.end()) {
    stored = take_entry(store, bytes->mark.sha256, package, check, entry_check, report);
    if (!stored) return std::unexpected(stored.error());
  }
  if (!*stored) {
    auto added = bytes->unpacked
                     ? enter_wheel(store, *bytes->work, bytes->work->path() + "/entry",
                                   bytes->mark.sha256, std::move(*bytes->unpacked), entry_check)
                     : add_entry(store, package, *bytes, check, entry_check, report, stop);
    if (!added) return std::unexpected(added.error());
    *stored = std::move(*added);
  }
  remove_partial_wheel(store, bytes->mark.sha256);
  if (auto kept = remember_download(package, bytes->mark, transport, report); !kept)
    return std::unexpected(kept.error());
  return std::move(**stored);
}

bool may_be_stored(const std::string& store, const plan::ResolvedPackage& package) {
  const std::string_view sha256 = package.hash.sha256();
  if (store.empty() || sha256.empty() || !check_hash_form(package)) return false;
  const auto entry = look_at(entry_folder(store, std::string(sha256)));
  return entry && entry->has_value();
}

Result<WheelContents> list_wheel(const std::string& store, const plan::ResolvedPackage& package,
                                 index::Transport& transport, const WheelCheck& check,
                                 Report& report) {
  auto stored = find_stored(store, package, transport, check, EntryCheck::size_and_time, report);
  if (!stored) return std::unexpected(stored.error());
  if (*stored) return std::move(**stored);
  auto source = open_for_listing(package, transport);
  if (!source) return std::unexpected(source.error());
  auto seen = std::make_shared<SeenParts>();
  auto opened =
      open_checked(remember_parts(std::move(*source), seen), package, check, true, report);
  if (!opened) return std::unexpected(opened.error());
  return WheelContents{std::move(opened->manifest),
                       {},
                       std::string(package.hash.sha256()),
                       std::make_shared<const wheel::WheelFile>(std::move(opened->wheel)),
                       std::move(seen)};
}

}  // namespace axle::installer
