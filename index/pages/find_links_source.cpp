// pip's --find-links: a folder of files, or one page that links to files of any project.
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "index/http/local_files.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "index/pages/file_project.h"
#include "index/pages/page.h"
#include "index/pages/page_entry.h"
#include "index/pages/page_request.h"
#include "index/pages/source.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::index {
namespace {

class FindLinksSource final : public Source {
 public:
  FindLinksSource(std::string location, Transport& transport, Report& report)
      : location_(std::move(location)), transport_(transport), report_(report) {
    transport_.remember_credentials(location_);
  }

  Result<ProjectPage> project(std::string_view name) override {
    const std::lock_guard lock(mutex_);
    if (!all_) all_ = is_http_url(location_) ? read_remote() : read_local();
    if (!*all_) return std::unexpected(all_->error());
    ProjectPage page{std::string(name), (*all_)->url, {}};
    for (const PublishedFile& file : (*all_)->files) {
      if (belongs_to(file.filename, name)) page.files.push_back(file);
    }
    return page;
  }

  void prefetch(std::string_view /*name*/) override {
    const std::lock_guard lock(mutex_);
    if (!all_ && is_http_url(location_)) prefetch_page(page_url(), transport_);
  }

  std::set<std::string> names_at_hand() override {
    const std::lock_guard lock(mutex_);
    std::set<std::string> names;
    if (!all_ || !*all_) return names;
    for (const PublishedFile& file : (*all_)->files) {
      const auto name = wheel::parse_wheel_name(file.filename);
      if (name) names.insert(wheel::normalize_name(name->distribution));
    }
    return names;
  }

  std::string description() const override { return redact_url(location_); }

 private:
  [[nodiscard]] std::string page_url() const {
    return without_credentials(without_fragment(location_));
  }

  Result<ProjectPage> read_remote() {
    const std::string url = page_url();
    Result<std::optional<HttpResponse>> response = request_page(url, transport_);
    if (!response) return std::unexpected(std::move(response.error()));
    if (!*response) return std::unexpected(status_error(url, 404));
    HttpResponse& page = **response;
    if (page.content_type.find("json") != std::string::npos) {
      return parse_page(std::move(page.body), page.content_type, page.url, report_);
    }
    return parse_link_page(page.body, page.url, report_);
  }

  Result<ProjectPage> read_local() {
    Result<std::string> path = local_path(location_);
    if (!path) return std::unexpected(std::move(path.error()));
    std::error_code error;
    if (std::filesystem::is_directory(*path, error)) {
      Result<std::vector<PublishedFile>> files = list_folder(*path);
      if (!files) return std::unexpected(std::move(files.error()));
      return ProjectPage{{}, file_url(*path + '/'), std::move(*files)};
    }
    Result<std::string> body = read_local_file(*path, max_page_bytes);
    if (!body) {
      body.error().hint = "--find-links takes a folder of wheels or a page with links to them";
      return std::unexpected(std::move(body.error()));
    }
    if (path->ends_with(".json"))
      return parse_json_page(std::move(*body), file_url(*path), report_);
    return parse_link_page(*body, file_url(*path), report_);
  }

  std::string location_;
  Transport& transport_;
  Report& report_;
  std::mutex mutex_;
  std::optional<Result<ProjectPage>> all_;  ///< read once
};

}  // namespace

std::unique_ptr<Source> make_find_links_source(std::string location, Transport& transport,
                                               Report& report) {
  return std::make_unique<FindLinksSource>(std::move(location), transport, report);
}

}  // namespace axle::index
