// A simple index, over HTTP or as a folder.
#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "index/http/local_files.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "index/pages/page.h"
#include "index/pages/page_request.h"
#include "index/pages/source.h"
#include "wheel/requirement.h"

namespace axle::index {
namespace {

/// The name becomes a path component: only normalised names are accepted.
Result<void> check_name(std::string_view name) {
  if (wheel::is_valid_name(name) && wheel::normalize_name(name) == name) return {};
  return fail(ErrorKind::malformed, fmt::format("'{}' is not a normalised project name", name));
}

class HttpSimpleSource final : public Source {
 public:
  HttpSimpleSource(std::string_view url, Transport& transport, Report& report,
                   std::set<int> absent_codes)
      : base_(without_credentials(without_fragment(url))),
        transport_(transport),
        report_(report),
        absent_codes_(std::move(absent_codes)) {
    transport_.remember_credentials(url);
    const std::size_t mark = std::min(base_.find('?'), base_.size());
    query_ = base_.substr(mark);
    base_.resize(mark);
    while (base_.ends_with('/')) base_.pop_back();
  }

  Result<ProjectPage> project(std::string_view name) override {
    if (Result<void> valid = check_name(name); !valid) return std::unexpected(valid.error());
    const std::string url = fmt::format("{}/{}/{}", base_, name, query_);
    Result<std::optional<HttpResponse>> response = request_page(url, transport_, absent_codes_);
    if (!response) return std::unexpected(std::move(response.error()));
    if (!*response) return ProjectPage{std::string(name), url, {}, true};
    HttpResponse& page = **response;
    Result<ProjectPage> parsed =
        parse_page(std::move(page.body), page.content_type, page.url, report_);
    if (parsed) parsed->name = name;
    return parsed;
  }

  std::string description() const override { return base_; }

 private:
  std::string base_;
  std::string query_;  ///< "?…", of every page
  Transport& transport_;
  Report& report_;
  std::set<int> absent_codes_;
};

class FolderSimpleSource final : public Source {
 public:
  FolderSimpleSource(Result<std::string> folder, std::string location, Report& report)
      : folder_(std::move(folder)), location_(std::move(location)), report_(report) {}

  Result<ProjectPage> project(std::string_view name) override {
    if (Result<void> valid = check_name(name); !valid) return std::unexpected(valid.error());
    if (!folder_) return std::unexpected(folder_.error());
    std::error_code error;
    if (!std::filesystem::is_directory(*folder_, error)) {
      return fail(ErrorKind::io, fmt::format("the index folder {} does not exist", *folder_),
                  "check the index URL; it must name a folder with one folder per project");
    }
    const std::string folder = fmt::format("{}/{}", *folder_, name);
    for (const bool json : {true, false}) {
      const std::string path = folder + (json ? "/index.json" : "/index.html");
      Result<std::string> body = read_local_file(path, max_page_bytes);
      if (!body && body.error().kind == ErrorKind::not_found) continue;
      if (!body) return std::unexpected(std::move(body.error()));
      Result<ProjectPage> page = json ? parse_json_page(std::move(*body), file_url(path), report_)
                                      : parse_html_page(*body, file_url(path), report_);
      if (page) page->name = name;
      return page;
    }
    Result<std::vector<PublishedFile>> files = list_folder(folder);
    if (!files && files.error().kind != ErrorKind::not_found) {
      return std::unexpected(std::move(files.error()));
    }
    return ProjectPage{std::string(name), file_url(folder + '/'),
                       files ? std::move(*files) : std::vector<PublishedFile>{}, !files};
  }

  std::string description() const override { return folder_ ? *folder_ : redact_url(location_); }

 private:
  Result<std::string> folder_;
  std::string location_;
  Report& report_;
};

}  // namespace

std::unique_ptr<Source> make_simple_source(std::string url, Transport& transport, Report& report,
                                           std::set<int> absent_codes) {
  if (is_http_url(url)) {
    return std::make_unique<HttpSimpleSource>(url, transport, report, std::move(absent_codes));
  }
  Result<std::string> folder = local_path(url);
  return std::make_unique<FolderSimpleSource>(std::move(folder), std::move(url), report);
}

}  // namespace axle::index
