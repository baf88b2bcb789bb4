#include "index/storage/stored_place.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "index/http/redaction.h"
#include "index/pages/page.h"
#include "wheel/requirement.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::index {
namespace {

constexpr const char* root_page = "simple/index.json";
constexpr std::uint64_t largest_small_file = 64ULL << 20;

std::string folder_of(std::string_view project) { return fmt::format("simple/{}/", project); }

class StoredIndex final : public StoredPlace {
 public:
  explicit StoredIndex(std::unique_ptr<ObjectStore> store)
      : name_(store->name()), store_(std::move(store)) {}

  const std::string& name() const override { return name_; }
  std::string folder() const override { return {}; }
  bool may_lack_html() const override { return store_->may_lack_html(); }
  Transport& reader() override { return store_->reader(); }
  std::string simple_url() const override { return store_->url("simple"); }

  Result<std::optional<std::vector<std::string>>> read_names() override;
  Result<std::optional<PublishedProject>> read_project(const std::string& name) override;
  Result<wheel::VariantMetadata> read_variants(const PublishedProject& project,
                                               const std::string& filename,
                                               Report& report) override;
  Result<std::optional<StoredObject>> find(const std::string& project,
                                           const std::string& filename) override;
  Result<std::optional<StoredObject>> look_at(const std::string& project,
                                              const std::string& filename) override {
    return store_->head(folder_of(project) + filename);
  }
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
  std::unique_ptr<ObjectStore> store_;
  std::mutex mutex_;  ///< protects what was read
  Pages pages_;
  ReadIndex read_;  ///< by `read_names` and `read_project`
};

Result<std::optional<std::string>> StoredIndex::read_page(const std::string& key) {
  auto page = store_->get(key, max_page_bytes);
  if (!page) return std::unexpected(std::move(page.error()));
  const std::lock_guard lock(mutex_);
  read_.etags.erase(key);
  if (!*page) {
    read_.etags[key] = "";
    return std::nullopt;
  }
  if (!(*page)->etag.empty()) read_.etags[key] = (*page)->etag;
  return std::move((*page)->text);
}

Result<std::optional<PublishedProject>> StoredIndex::read_project(const std::string& name) {
  const std::string key = folder_of(name) + "index.json";
  auto text = read_page(key);
  if (!text) return std::unexpected(std::move(text.error()));
  if (!*text) return std::nullopt;
  auto page = parse_published_page(std::move(**text), name_ + '/' + key, store_->url(key));
  if (!page) return std::unexpected(std::move(page.error()));
  page->folder = name_ + "/simple/" + name;
  const std::lock_guard lock(mutex_);
  for (const PublishedWheel& wheel : page->wheels) {
    if (wheel.url.empty()) read_.wheels[folder_of(name) + wheel.filename] = wheel.sha256;
  }
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
  if (!*page) return std::nullopt;
  const auto listed = std::ranges::find((*page)->wheels, filename, &PublishedWheel::filename);
  if (listed == (*page)->wheels.end()) return std::nullopt;
  auto there = store_->head(folder_of(project) + filename);
  const bool is_listed = there && *there && store_->has_whole_files() && listed->url.empty() &&
                         (*there)->size == listed->size;
  if (is_listed) (*there)->sha256 = listed->sha256;
  return there;
}

Result<std::string> StoredIndex::read_metadata(const std::string& project,
                                               const std::string& filename) {
  const std::string key = folder_of(project) + filename + ".metadata";
  auto text = store_->get(key, largest_small_file);
  if (!text) return std::unexpected(std::move(text.error()));
  if (!*text) return fail(ErrorKind::not_found, redact_url(store_->url(key)) + " is not there");
  return std::move((*text)->text);
}

Result<std::unique_ptr<IndexDraft>> StoredIndex::begin() {
  const auto names = read_names();
  if (!names) return std::unexpected(names.error());
  return store_->begin(read_, names->has_value());
}

}  // namespace

std::unique_ptr<StoredPlace> make_stored_place(std::unique_ptr<ObjectStore> store) {
  return std::make_unique<StoredIndex>(std::move(store));
}

}  // namespace axle::index
