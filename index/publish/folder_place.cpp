#include <map>
#include <utility>

#include <fmt/format.h>

#include "index/http/local_files.h"
#include "index/publish/folder_change.h"
#include "index/publish/index_place.h"
#include "index/publish/wheel_scan.h"

namespace axle::index {
namespace {

constexpr std::uint64_t most_bytes_read = 64ULL << 20;

class FolderPlace final : public IndexPlace {
 public:
  explicit FolderPlace(std::string folder) : folder_(std::move(folder)) {}

  const std::string& name() const override { return folder_; }
  std::string folder() const override { return folder_; }
  Result<std::optional<std::vector<std::string>>> read_names() override {
    return read_published_names(folder_);
  }
  Result<std::optional<PublishedProject>> read_project(const std::string& name) override {
    const auto laid = laid_.find(name);
    return read_published_project(fmt::format("{}/simple/{}", folder_, name),
                                  laid == laid_.end() ? std::set<std::string>() : laid->second);
  }
  void expect_laid(const std::string& project, const std::set<std::string>& filenames) override {
    laid_ = {{project, filenames}};
  }
  Result<std::optional<StoredObject>> look_at(const std::string& project,
                                              const std::string& filename) override {
    const std::string path = fmt::format("{}/simple/{}/{}", folder_, project, filename);
    auto hashed = hash_file(path);
    if (hashed) return StoredObject{std::move(hashed->sha256), hashed->size};
    if (hashed.error().kind == ErrorKind::not_found) return std::nullopt;
    return std::unexpected(std::move(hashed.error()));
  }
  Result<wheel::VariantMetadata> read_variants(const PublishedProject& project,
                                               const std::string& filename,
                                               Report& report) override {
    const std::string path = project.folder + '/' + filename;
    const auto text = read_local_file(path, most_bytes_read);
    if (!text) return std::unexpected(text.error());
    return wheel::parse_variant_metadata(*text, path, report);
  }
  // Whoever looks for a file in a folder reads it.
  Result<std::optional<StoredObject>> find(const std::string&, const std::string&) override {
    return std::nullopt;
  }
  Result<std::string> read_metadata(const std::string& project,
                                    const std::string& filename) override {
    return read_local_file(fmt::format("{}/simple/{}/{}.metadata", folder_, project, filename),
                           most_bytes_read);
  }
  Result<std::unique_ptr<IndexDraft>> begin() override {
    auto change = FolderChange::begin(folder_);
    if (!change) return std::unexpected(std::move(change.error()));
    return std::move(*change);
  }
  Result<std::optional<std::string>> read_shown(std::string_view path) override {
    auto text = read_local_file(fmt::format("{}/{}", folder_, path), most_bytes_read);
    if (text) return std::move(*text);
    if (text.error().kind == ErrorKind::not_found) return std::nullopt;
    return std::unexpected(std::move(text.error()));
  }

 private:
  std::string folder_;
  std::map<std::string, std::set<std::string>> laid_;
};

}  // namespace

std::unique_ptr<IndexPlace> make_folder_place(std::string folder) {
  return std::make_unique<FolderPlace>(std::move(folder));
}

}  // namespace axle::index
