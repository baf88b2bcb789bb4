#include "index/family/family_source.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "index/family/family_pages.h"
#include "index/http/local_files.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "index/pages/page_request.h"

namespace axle::index {
namespace {

/// What storage services answer for a file that is not there, to whoever may not list the folder.
const std::set<int> absent_codes = {403};

/// A local mirror may have the folders of some labels only. A server reports itself what it has.
bool is_there(const std::string& url) {
  const auto path = local_path(url);
  std::error_code ignored;
  return is_http_url(url) || (path && std::filesystem::exists(*path, ignored));
}

class PagesSource final : public FamilySource {
 public:
  PagesSource(const Family& family, Transport& transport, Report& report)
      : family_(family), transport_(transport), report_(report) {}

  Result<ProjectPage> project(std::string_view name) override {
    if (family_.is_by_release()) return empty_page(name);
    const auto pages = all_pages();
    if (!pages) return std::unexpected(explain(pages.error(), name));
    auto all = read(name, **pages, false);
    // Other members may be missing; without the first one it is not the family's index.
    if (all && all->files.empty() && name == family_.anchor()) {
      return std::unexpected(
          explain({ErrorKind::not_found, fmt::format("{} has no {}", description(), name)}, name));
    }
    return all;
  }

  Result<ProjectPage> release(std::string_view name, const wheel::Version& version) override {
    return read(name, pages_of(name, version), true);
  }

  void prefetch(std::string_view name) override {
    if (family_.is_by_release()) return;
    if (family_.url.contains(torch_mark) && !pages_) {
      const std::string url = page_list_url(family_);
      if (is_http_url(url)) prefetch_page(url, transport_);
      return;
    }
    if (const auto pages = all_pages()) {
      for (const FamilyPage& page : **pages) source(page.url).prefetch(name);
    }
  }

  void prefetch_release(std::string_view name, const wheel::Version& version) override {
    for (const FamilyPage& page : pages_of(name, version)) source(page.url).prefetch(name);
  }

  std::string description() const override { return redact_url(family_.url); }

 private:
  ProjectPage empty_page(std::string_view name) const {
    return {std::string(name), description(), {}, true};
  }

  /// The pages that are there, where they are not by release.
  Result<const std::vector<FamilyPage>*> all_pages() {
    if (pages_) return &*pages_;
    if (family_.url.contains(torch_mark)) {
      auto linked = read_page_list();
      if (!linked) return std::unexpected(std::move(linked).error());
      return &pages_.emplace(std::move(*linked));
    }
    std::vector<FamilyPage> pages = family_pages(family_);
    std::erase_if(pages, [](const FamilyPage& page) { return !is_there(page.url); });
    if (pages.empty()) pages.push_back({family_.url, {}});
    return &pages_.emplace(std::move(pages));
  }

  std::vector<FamilyPage> pages_of(std::string_view name, const wheel::Version& version) const {
    std::vector<FamilyPage> pages = family_pages(family_, name, version);
    std::erase_if(pages, [](const FamilyPage& page) { return !is_there(page.url); });
    return pages;
  }

  Result<std::vector<FamilyPage>> read_page_list() {
    const std::string url = page_list_url(family_);
    if (!is_http_url(url)) {
      const auto path = local_path(url);
      if (!path) return std::unexpected(path.error());
      const auto body = read_local_file(*path, max_page_bytes);
      if (!body) return std::unexpected(body.error());
      return linked_pages(family_, *body, file_url(*path));
    }
    const auto response = request_page(url, transport_);
    if (!response) return std::unexpected(response.error());
    if (!*response) return std::unexpected(status_error(url, 404));
    return linked_pages(family_, (*response)->body, (*response)->url);
  }

  Source& source(const std::string& url) {
    std::unique_ptr<Source>& source = sources_[url];
    if (source == nullptr) {
      source = family_.links
                   ? make_find_links_source(url, transport_, report_)
                   : make_simple_source(url, transport_, report_,
                                        family_.is_by_release() ? absent_codes : std::set<int>{});
    }
    return *source;
  }

  /// `may_lack`: pages may be missing.
  Result<ProjectPage> read(std::string_view name, const std::vector<FamilyPage>& pages,
                           bool may_lack) {
    ProjectPage all = empty_page(name);
    if (pages.size() > 1) {
      for (const FamilyPage& page : pages) source(page.url).prefetch(name);
    }
    std::set<std::string, std::less<>> seen;  // pages repeat the files that have no label
    for (const FamilyPage& place : pages) {
      Result<ProjectPage> page = source(place.url).project(name);
      if (!page && may_lack && page.error().kind == ErrorKind::not_found) continue;
      if (!page) return std::unexpected(explain(std::move(page).error(), name));
      all.absent = all.absent && page->absent;
      if (!family_.has_member(name)) {
        // A local version of an unlabelled project is part of its version.
      } else if (!place.label.empty()) {
        for (PublishedFile& file : page->files) file.label = place.label;
      } else {
        label_files(family_, *page, /*known_only=*/false);
      }
      if (pages.size() == 1) {
        all.files = std::move(page->files);
        break;
      }
      for (PublishedFile& file : page->files) {
        if (!file.label.empty() || seen.insert(file.filename).second)
          all.files.push_back(std::move(file));
      }
    }
    return all;
  }

  Error explain(Error error, std::string_view project) const {
    const std::string way_around = fmt::format(
        "specify a mirror with --family {}=URL, or use the default index's plain wheels with "
        "--no-variants={}",
        family_.name, project);
    error.message =
        fmt::format("the index of family {} cannot be used: {}", family_.name, error.message);
    error.hint = error.hint.empty() ? way_around : error.hint + "; or " + way_around;
    return error;
  }

  const Family& family_;
  Transport& transport_;
  Report& report_;
  std::optional<std::vector<FamilyPage>> pages_;
  std::map<std::string, std::unique_ptr<Source>> sources_;  ///< by URL
};

}  // namespace

std::unique_ptr<FamilySource> make_family_source(const Family& family, Transport& transport,
                                                 Report& report) {
  return std::make_unique<PagesSource>(family, transport, report);
}

}  // namespace axle::index
