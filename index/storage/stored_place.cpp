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

  Result<std::optional<std::vector<std::string>>> read_names() override;
  Result<std::optional<PublishedProject>> read_project(const std::string& name) override;
  Result<wheel::VariantMetadata> read_variants(const PublishedProject& project,
                                               const std::string& filename,
                                               Report& report) override;
  Result<std::optional<StoredObject>> find(const std::string& project,
                                           const std::string& filename) override;
  Result<std::string> read_metadata(const std::string& project,
                                    const std::string& filename) override;
  Result<std::unique_ptr<IndexDraft>> begin() override;
  Result<std::optional<std::string>> read_shown(std::string_view path) override {
    return read_page(std::string(path));
  }

 private:
  using Pages = std::map<std::string, std::optional<PublishedProject>>;

  /// As `read_project`, asked for once.
  [[nodiscard]] Result<std::optional<PublishedProject>> known_page(const std::string& project);
  /// The text of a page or variants file, whose ETag is noted.
  [[nodiscard]] Result<std::optional<std::string>> read_page(const std::string& key);

  std::string name_;
  StorageClient storage_;
  bool goes_on_;
  std::mutex mutex_;  ///< protects the pages
  Pages pages_;
  StoredDraft::ReadPages read_;  ///< by `read_names` and `read_project`
};

Result<std::optional<std::string>> StoredIndex::read_page(const std::string& key) {
  auto page = storage_.get(key, max_page_bytes);
  if (!page) return std::unexpected(std::move(page.error()));
  const std::lock_guard lock(mutex_);
  read_.erase(key);
  if (!*page) {
    read_[key] = "";
    return std::nullopt;
  }
  if (!(*page)->etag.empty()) read_[key] = (*page)->etag;
  return std::move((*page)->text);
}

Result<std::optional<PublishedProject>> StoredIndex::read_project(const std::string& name) {
  const std::string key = folder_of(name) + "index.json";
  auto text = read_page(key);
  if (!text) return std::unexpected(std::move(text.error()));
  if (!*text) return std::nullopt;
  auto page = parse_published_page(std::move(**text), name_ + '/' + key, storage_.url(key));
  if (!page) return std::unexpected(std::move(page.error()));
  page->folder = name_ + "/simple/" + name;
  return std::move(*page);
}

Result<std::optional<PublishedProject>> StoredIndex::known_page(const std::string& project) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = pages_.find(project); known != pages_.end()) return known->second;
  }
  auto page = read_project(project);
  if (!page) return page;
  const std::lock_guard lock(mutex_);
  return pages_.insert_or_assign(project, std::move(*page)).first->second;
}

Result<std::optional<std::vector<std::string>>> StoredIndex::read_names() {
  auto text = read_page(root_page);
  if (!text) return std::unexpected(std::move(text.error()));
  if (!*text) return std::nullopt;
  auto names = parse_published_root(**text, name_ + '/' + root_page);
  if (!names) return std::unexpected(std::move(names.error()));
  return std::move(*names);
}

Result<wheel::VariantMetadata> StoredIndex::read_variants(const PublishedProject& project,
                                                          const std::string& filename,
                                                          Report& report) {
  const std::string place = project.folder + '/' + filename;
  const auto text = read_page(place.substr(name_.size() + 1));
  if (!text) return std::unexpected(text.error());
  if (!*text) {
    return fail(ErrorKind::not_found,
                place + " is not there, which says what the release's variants are");
  }
  return wheel::parse_variant_metadata(**text, place, report);
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
  return std::move((*text)->text);
}

Result<std::unique_ptr<IndexDraft>> StoredIndex::begin() {
  const auto names = read_names();
  if (!names) return std::unexpected(names.error());
  if (*names) return std::make_unique<StoredDraft>(storage_, read_, goes_on_, true);
  const auto taken = storage_.has_any("simple/");
  if (!taken) return std::unexpected(taken.error());
  if (*taken) {
    return fail(ErrorKind::io,
                fmt::format("{}/simple has objects, but no {} of an index: they are left as they "
                            "are",
                            name_, root_page),
                "choose another prefix, or remove them");
  }
  return std::make_unique<StoredDraft>(storage_, read_, goes_on_, false);
}

}  // namespace

std::unique_ptr<StoredPlace> make_stored_place(StorageAccess access,
                                               std::unique_ptr<Transport> transport, bool goes_on) {
  return std::make_unique<StoredIndex>(std::move(access), std::move(transport), goes_on);
}

}  // namespace axle::index
