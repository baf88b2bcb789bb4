#include "index/storage/stored_place.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "index/http/redaction.h"
#include "index/pages/page.h"
#include "index/storage/storage_client.h"
#include "index/storage/stored_draft.h"
#include "wheel/requirement.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/wheel_name.h"

namespace axle::index {
namespace {

constexpr const char* root_page = "simple/index.json";
constexpr std::uint64_t largest_small_file = 64ULL << 20;

std::string folder_of(std::string_view project) { return fmt::format("simple/{}/", project); }

class StoredIndex final : public StoredPlace {
 public:
  StoredIndex(StorageAccess access, std::unique_ptr<Transport> transport, bool goes_on)
      : name_(access.address.text()),
        storage_(std::move(access), std::move(transport)),
        goes_on_(goes_on) {}

  const std::string& name() const override { return name_; }
  std::string folder() const override { return {}; }
  Transport& reader() override { return storage_.reader(); }
  std::string simple_url() const override { return storage_.url("simple"); }

  Result<PublishedIndex> read(const std::set<std::string>* projects) override;
  Result<ScannedWheel> read_wheel(const PublishedProject& project, const PublishedWheel& wheel,
                                  Report& report) override;
  Result<std::optional<StoredObject>> find(const std::string& project,
                                           const std::string& filename) override;
  Result<std::string> read_metadata(const std::string& project,
                                    const std::string& filename) override;
  Result<std::unique_ptr<IndexDraft>> begin() override;

 private:
  using Pages = std::map<std::string, std::optional<PublishedProject>>;

  /// Nullopt: the storage has no page of it.
  [[nodiscard]] Result<std::optional<PublishedProject>> read_page(const std::string& project);
  /// The same, asked for once.
  [[nodiscard]] Result<std::optional<PublishedProject>> known_page(const std::string& project);
  /// Nullopt: there is no index.
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> read_root();
  [[nodiscard]] Result<wheel::VariantMetadata> release_variants(const PublishedProject& project,
                                                                const std::string& file,
                                                                Report& report);

  std::string name_;
  StorageClient storage_;
  bool goes_on_;
  std::mutex mutex_;  ///< protects the pages
  Pages pages_;
  std::map<std::string, wheel::VariantMetadata> variants_;  ///< by the place of their file
};

Result<std::optional<PublishedProject>> StoredIndex::read_page(const std::string& project) {
  const std::string key = folder_of(project) + "index.json";
  auto text = storage_.get(key, max_page_bytes);
  if (!text) return std::unexpected(std::move(text.error()));
  if (!*text) return std::nullopt;
  auto page = parse_published_page(std::move(**text), name_ + '/' + key, storage_.url(key));
  if (!page) return std::unexpected(std::move(page.error()));
  page->folder = name_ + "/simple/" + project;
  return std::move(*page);
}

Result<std::optional<PublishedProject>> StoredIndex::known_page(const std::string& project) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = pages_.find(project); known != pages_.end()) return known->second;
  }
  auto page = read_page(project);
  if (!page) return page;
  const std::lock_guard lock(mutex_);
  return pages_.insert_or_assign(project, std::move(*page)).first->second;
}

Result<std::optional<std::vector<std::string>>> StoredIndex::read_root() {
  auto text = storage_.get(root_page, max_page_bytes);
  if (!text) return std::unexpected(std::move(text.error()));
  if (!*text) return std::nullopt;
  auto names = parse_published_root(**text, name_ + '/' + root_page);
  if (!names) return std::unexpected(std::move(names.error()));
  return std::move(*names);
}

Result<PublishedIndex> StoredIndex::read(const std::set<std::string>* projects) {
  const auto names = read_root();
  if (!names) return std::unexpected(names.error());
  PublishedIndex index;
  if (!*names) return index;
  for (const std::string& name : **names) {
    index.try_emplace(name);
    if (projects != nullptr && !projects->contains(name)) continue;
    auto page = read_page(name);
    if (!page) return std::unexpected(std::move(page.error()));
    if (*page) index[name] = std::move(**page);
  }
  // A command that was killed between a project's page and the first of them.
  if (projects == nullptr) return index;
  for (const std::string& name : *projects) {
    if (index.contains(name)) continue;
    auto page = read_page(name);
    if (!page) return std::unexpected(std::move(page.error()));
    if (*page) index.emplace(name, std::move(**page));
  }
  return index;
}

Result<wheel::VariantMetadata> StoredIndex::release_variants(const PublishedProject& project,
                                                             const std::string& file,
                                                             Report& report) {
  const std::string place = project.folder + '/' + file;
  if (const auto known = variants_.find(place); known != variants_.end()) return known->second;
  auto text = storage_.get(place.substr(name_.size() + 1), largest_small_file);
  if (!text) return std::unexpected(std::move(text.error()));
  if (!*text) {
    return fail(ErrorKind::not_found,
                place + " is not there, which says what the release's variants are");
  }
  auto parsed = wheel::parse_variant_metadata(**text, place, report);
  if (!parsed) return parsed;
  return variants_.emplace(place, std::move(*parsed)).first->second;
}

Result<ScannedWheel> StoredIndex::read_wheel(const PublishedProject& project,
                                             const PublishedWheel& listed, Report& report) {
  ScannedWheel wheel;
  wheel.path = project.folder + '/' + listed.filename;
  wheel.is_here = false;
  wheel.filename = listed.filename;
  auto name = wheel::parse_wheel_name(listed.filename);
  if (!name) return std::unexpected(within(wheel.path, std::move(name.error())));
  wheel.name = std::move(*name);
  wheel.project = wheel::normalize_name(wheel.name.distribution);
  wheel.sha256 = listed.sha256;
  wheel.size = listed.size;
  wheel.requires_python = listed.requires_python;
  wheel.metadata_sha256 = listed.metadata_sha256;
  wheel.has_provenance = listed.has_provenance;
  if (!wheel.name.is_variant()) return wheel;
  const auto release = release_variants(
      project, wheel::variants_file_name(wheel.name.distribution, wheel.name.version), report);
  if (!release) return std::unexpected(release.error());
  auto own = wheel::only_variant(*release, wheel.name.label);
  if (!own) return std::unexpected(within(wheel.path, std::move(own.error())));
  wheel.variant = std::move(*own);
  return wheel;
}

Result<std::optional<StoredObject>> StoredIndex::find(const std::string& project,
                                                      const std::string& filename) {
  const auto page = known_page(project);
  if (!page) return std::unexpected(page.error());
  if (!*page || std::ranges::find((*page)->wheels, filename, &PublishedWheel::filename) ==
                    (*page)->wheels.end())
    return std::nullopt;
  return storage_.head(folder_of(project) + filename);
}

Result<std::string> StoredIndex::read_metadata(const std::string& project,
                                               const std::string& filename) {
  const std::string key = folder_of(project) + filename + ".metadata";
  auto text = storage_.get(key, largest_small_file);
  if (!text) return std::unexpected(std::move(text.error()));
  if (!*text) return fail(ErrorKind::not_found, redact_url(storage_.url(key)) + " is not there");
  return std::move(**text);
}

Result<std::unique_ptr<IndexDraft>> StoredIndex::begin() {
  const auto names = read_root();
  if (!names) return std::unexpected(names.error());
  if (*names) return std::make_unique<StoredDraft>(storage_, goes_on_, true);
  const auto taken = storage_.has_any("simple/");
  if (!taken) return std::unexpected(taken.error());
  if (*taken) {
    return fail(ErrorKind::io,
                fmt::format("{}/simple has objects, but no {} of an index: they are left as they "
                            "are",
                            name_, root_page),
                "choose another prefix, or remove them");
  }
  return std::make_unique<StoredDraft>(storage_, goes_on_, false);
}

}  // namespace

std::unique_ptr<StoredPlace> make_stored_place(StorageAccess access,
                                               std::unique_ptr<Transport> transport, bool goes_on) {
  return std::make_unique<StoredIndex>(std::move(access), std::move(transport), goes_on);
}

}  // namespace axle::index
