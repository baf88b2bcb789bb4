#pragma once
// An index in memory, seam and all: pages for the resolver, bytes (whole, by range, by tail) for
// the transport. Wheels are made by the wheel writer.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/http/transport.h"
#include "index/pages/source.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::testing {

struct WheelRecipe {
  std::string name;  ///< as in the file name
  std::string version;
  std::vector<std::string> requires_dist = {};
  std::string tags = "py3-none-any";
  std::string label = {};
  std::string build = {};
  std::vector<std::string> extras = {};
  std::string requires_python = {};
  /// Of the release; the wheel carries its own label's part of it.
  std::optional<wheel::VariantMetadata> variants = {};
};

class MemoryIndex final : public index::Source, public index::Transport {
 public:
  explicit MemoryIndex(std::string base = "https://index.test") : base_(std::move(base)) {}

  /// Returns the entry on the page, to be changed: yanked, requires_python, has_metadata.
  index::PublishedFile& add_wheel(const WheelRecipe& recipe);
  /// A wheel of which nobody reads more than the metadata: thousands are made in no time.
  index::PublishedFile& add_metadata_of(const WheelRecipe& recipe);
  index::PublishedFile& add_file(const std::string& project, const std::string& filename,
                                 std::string bytes);
  /// `{name}-{version}-variants.json`, its hash listed.
  index::PublishedFile& add_variants(const std::string& project, const std::string& version,
                                     const std::string& json);
  index::PublishedFile& add_variants(const std::string& project, const std::string& version,
                                     const wheel::VariantMetadata& metadata);
  /// The same on the project's page below `index_url`, an index that only the transport knows.
  void add_wheel_at(const std::string& index_url, const WheelRecipe& recipe,
                    std::optional<std::uint64_t> size = {});
  /// A page without files.
  void add_empty_page(const std::string& project) { pages_[project]; }
  void replace_bytes(const std::string& filename, std::string bytes);

  Result<index::ProjectPage> project(std::string_view name) override;
  std::string description() const override { return base_; }
  Result<index::HttpResponse> fetch(const index::HttpRequest& request) override;
  Result<index::HttpResponse> download(const index::HttpRequest& request,
                                       const index::BodySink& sink) override;

  std::vector<std::string> fetched;  ///< last path components, in order
  std::vector<std::string> asked;    ///< projects whose page was read, in order

 private:
  index::PublishedFile& add_wheel(const WheelRecipe& recipe, std::string bytes);

  std::string base_;
  std::map<std::string, std::vector<index::PublishedFile>, std::less<>> pages_;
  std::map<std::string, std::string, std::less<>> bytes_;  ///< by URL
  std::map<std::string, std::string, std::less<>> links_;  ///< of pages elsewhere, by their URL
};

}  // namespace axle::testing
