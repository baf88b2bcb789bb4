// A simple index, over HTTP or as a folder.
#include <algorithm>
#include <any>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
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

/// Passes everything on and remembers whether there was anything that a user should read.
class AttentiveReport final : public Report {
 public:
  explicit AttentiveReport(Report& report) : report_(report) {}
  void add(Remark remark) override {
    heard = heard || remark.severity != Severity::detail;
    report_.add(std::move(remark));
  }
  void progress(const Work& work) override { report_.progress(work); }

  bool heard = false;

 private:
  Report& report_;
};

/// A page that was read, and whether its files were left beside its cached copy.
struct ReadPage {
  Result<ListedProject> listed;
  bool kept = false;
};

ReadPage absent_page(std::string_view name, std::string url) {
  return {ListedProject({std::string(name), std::move(url), {}, true}, name)};
}

ReadPage read_listing(std::string_view name, HttpResponse response, Transport& transport,
                      Report& heard) {
  AttentiveReport report(heard);
  Result<ProjectPage> page =
      parse_page(std::move(response.body), response.content_type, response.url, report);
  if (!page) return {std::unexpected(std::move(page).error())};
  // The query may hold a token, which stays out of caches.
  if (!response.copy.path.empty()) page->url = page->url.substr(0, page->url.find('?'));
  ReadPage read{ListedProject(*page, name, response.copy)};
  // What is wrong with a page is said each time that it is used.
  read.kept = !report.heard && !response.copy.path.empty() &&
              transport.keep_form(response.copy, read.listed->bytes());
  if (read.kept) read.listed->leave_files_at(response.copy);
  return read;
}

/// A page that was read as soon as it had come.
struct PreparedPage {
  ReadPage read;
  std::vector<Remark> remarks;
};

/// Reads what has come; true: there is nothing to say of it.
bool prepare_page(std::string_view name, HttpResponse& response, Transport& transport) {
  if (response.status != 200) return response.status == 404;
  CollectedReport report;
  HttpResponse page = std::exchange(response, {});
  response.status = page.status;
  const auto made = std::make_shared<PreparedPage>(
      PreparedPage{read_listing(name, std::move(page), transport, report), {}});
  made->remarks = std::move(report.remarks);
  response.made = made;
  const Result<ListedProject>& listed = made->read.listed;
  return listed && made->remarks.empty() && !listed->any_exposed();
}

/// The names of pages that were prepared. Threads of the transport's add to it, which may outlive
/// the source.
class Arrivals {
 public:
  void add(const std::string& name) {
    const std::lock_guard lock(mutex_);
    names_.insert(name);
  }
  bool has(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    return names_.contains(name);
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> names_;
};

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
    const Result<ListedProject> listed = listing(name);
    if (!listed) return std::unexpected(listed.error());
    return listed->page(name);
  }

  Result<ListedProject> listing(std::string_view name) override {
    if (Result<void> valid = check_name(name); !valid) return std::unexpected(valid.error());
    if (const auto ahead = ahead_.extract(std::string(name)); !ahead.empty())
      return std::move(ahead.mapped());
    std::optional<ListedProject> kept;
    auto response = request_page(page_url(name), transport_, absent_codes_, opens(name, kept));
    if (!response) return std::unexpected(std::move(response.error()));
    if (!*response || !(*response)->has_form) return read(name, std::move(*response));
    return std::move(*kept);
  }

  void prefetch(std::string_view name) override {
    if (!check_name(name) || ahead_.contains(name)) return;
    std::optional<ListedProject> kept;
    // Of what is kept and not fresh: whether there is nothing to say of it if it has not changed.
    const auto plain = std::make_shared<bool>(false);
    const HasForm open = opens(name, kept);
    const HasForm looks = [&](const KeptForm& form) {
      const bool opened = open(form);
      *plain = opened && !kept->any_exposed();
      return opened;
    };
    Transport& transport = transport_;
    const auto prepare = [&transport, plain, arrivals = arrivals_,
                          name = std::string(name)](HttpResponse& page) {
      const bool silent = page.status == 304 ? *plain : prepare_page(name, page, transport);
      if (silent) arrivals->add(name);
    };
    if (prefetch_page(page_url(name), transport, looks, prepare))
      ahead_.insert_or_assign(std::string(name), std::move(*kept));
  }

  bool has_arrived(std::string_view name) override { return arrivals_->has(name); }

  std::string description() const override { return base_; }

 private:
  [[nodiscard]] std::string page_url(std::string_view name) const {
    return fmt::format("{}/{}/{}", base_, name, query_);
  }

  Result<ListedProject> read(std::string_view name, std::optional<HttpResponse> response) {
    ReadPage page = !response ? absent_page(name, page_url(name))
                    : response->made.has_value()
                        ? take_prepared(*response)
                        : read_listing(name, std::move(*response), transport_, report_);
    if (page.kept)
      page.listed->set_parse_again([this, name = std::string(name)] { return parse_again(name); });
    return std::move(page.listed);
  }

  ReadPage take_prepared(HttpResponse& response) {
    PreparedPage& made = *std::any_cast<std::shared_ptr<PreparedPage>&>(response.made);
    for (Remark& remark : made.remarks) report_.add(std::move(remark));
    return std::move(made.read);
  }

  [[nodiscard]] HasForm opens(std::string_view name, std::optional<ListedProject>& kept) {
    return [this, name, &kept](const KeptForm& form) {
      kept = ListedProject::open(form);
      if (kept)
        kept->set_parse_again([this, name = std::string(name)] { return parse_again(name); });
      return kept.has_value();
    };
  }

  /// From the cached copy, or a new one if that is damaged as well.
  std::shared_ptr<const ListedProject> parse_again(const std::string& name) {
    auto response = request_page(page_url(name), transport_, absent_codes_);
    auto listed = response ? read(name, std::move(*response)) : std::unexpected(response.error());
    if (listed) return std::make_shared<const ListedProject>(std::move(*listed));
    report_.warn(fmt::format("the cached page of {} is damaged, and cannot be read again: {}", name,
                             listed.error().message),
                 "run the command again with --refresh");
    return nullptr;
  }

  std::string base_;
  std::string query_;  ///< "?…", of every page
  Transport& transport_;
  Report& report_;
  std::set<int> absent_codes_;
  std::shared_ptr<Arrivals> arrivals_ = std::make_shared<Arrivals>();
  /// Pages that a hint found in the cache, until they are asked for.
  std::map<std::string, ListedProject, std::less<>> ahead_;
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

  std::set<std::string> names_at_hand() override {
    std::set<std::string> names;
    if (!folder_) return names;
    std::error_code error;
    for (std::filesystem::directory_iterator it(*folder_, error), end; !error && it != end;
         it.increment(error)) {
      if (it->is_directory(error))
        names.insert(wheel::normalize_name(it->path().filename().string()));
    }
    return names;
  }

  std::string description() const override { return folder_ ? *folder_ : redact_url(location_); }

 private:
  Result<std::string> folder_;
  std::string location_;
  Report& report_;
};

}  // namespace

Result<ListedProject> Source::listing(std::string_view name) {
  const Result<ProjectPage> page = project(name);
  if (!page) return std::unexpected(page.error());
  return ListedProject(*page, name);
}

std::unique_ptr<Source> make_simple_source(std::string url, Transport& transport, Report& report,
                                           std::set<int> absent_codes) {
  if (is_http_url(url) || is_bundle_url(url)) {
    return std::make_unique<HttpSimpleSource>(url, transport, report, std::move(absent_codes));
  }
  Result<std::string> folder = local_path(url);
  return std::make_unique<FolderSimpleSource>(std::move(folder), std::move(url), report);
}

}  // namespace axle::index
