#include "index/serve/served_index.h"

#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "index/browse/list_pages.h"
#include "index/browse/page_frame.h"
#include "index/browse/project_page.h"
#include "index/http/url.h"
#include "index/serve/request_rules.h"
#include "wheel/requirement.h"

namespace axle::index {
namespace {

using system::Descriptor;

ServedAnswer plain(int status, std::string text) {
  ServedAnswer answer;
  answer.status = status;
  answer.headers = {{"Content-Type", "text/plain; charset=utf-8"}};
  answer.body = std::move(text) + '\n';
  return answer;
}

ServedAnswer redirect(std::string to) {
  ServedAnswer answer = plain(301, "see " + to);
  answer.headers.emplace_back("Location", std::move(to));
  return answer;
}

/// The page of a project; the name in a request was decoded.
ServedAnswer redirect_to_project(std::string_view name) {
  return redirect(fmt::format("/simple/{}/", percent_encode(wheel::normalize_name(name), false)));
}

std::string_view type_of(std::string_view file) {
  if (file.ends_with(".metadata")) return "text/plain; charset=utf-8";
  if (file.ends_with(".provenance")) return "application/vnd.pypi.integrity.v1+json";
  if (file.ends_with(".json")) return "application/json";
  if (file.ends_with(".html")) return "text/html; charset=utf-8";
  if (file.ends_with(".css")) return "text/css; charset=utf-8";
  if (file.ends_with(".js")) return "text/javascript; charset=utf-8";
  return "application/octet-stream";
}

/// Of a regular file below `folder`; neither it nor a folder on the way is a link.
Descriptor open_below(const std::string& folder, const std::vector<std::string>& path) {
  Descriptor at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (std::size_t i = 0; at && i < path.size(); ++i) {
    const int kind = i + 1 < path.size() ? O_DIRECTORY : O_NONBLOCK;
    at = Descriptor(::openat(at.get(), path[i].c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind));
  }
  return at;
}

std::string rendered(const std::vector<std::string>& path) {
  std::string text;
  for (const std::string& part : path) text += '/' + part;
  return text;
}

}  // namespace

Result<ServedIndex> ServedIndex::open(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(folder + "/simple/index.json", error)) {
    return fail(ErrorKind::not_found, folder + " does not contain a package index",
                "name a folder that `variant index build` or `variant index add` wrote");
  }
  ServedIndex index;
  index.folder_ = folder;
  return index;
}

ServedAnswer ServedIndex::answer(const ServedRequest& request) const {
  if (request.method != "GET" && request.method != "HEAD") {
    ServedAnswer refused = plain(405, "only GET and HEAD are answered");
    refused.headers.emplace_back("Allow", "GET, HEAD");
    return refused;
  }
  auto path = parse_request_path(request.path);
  if (!path) return plain(400, "this is no path of an index");
  if (path->size() == 1 && path->front().empty()) {
    ServedAnswer first = answer_shown(request, {std::string(first_page)});
    // An index without pages for people has those for installers.
    return first.status == 404 ? redirect("/simple/") : std::move(first);
  }
  const bool is_shared = path->size() == 2 && path->front() == "page" && !path->back().empty();
  if (is_shared || (path->size() == 1 && path->front() == first_page))
    return answer_shown(request, *path);
  if (path->front() != "simple" || path->size() > 3) return plain(404, "there is no such page");
  const bool is_folder = path->back().empty();
  if (!is_folder && path->size() < 3)
    return path->size() == 1 ? redirect("/simple/") : redirect_to_project((*path)[1]);
  if (is_folder) {
    path->pop_back();
    if (path->size() == 2 && wheel::normalize_name((*path)[1]) != (*path)[1])
      return redirect_to_project((*path)[1]);
    return answer_page(request, *path);
  }
  const std::string& file = path->back();
  if (file == "index.json" || file == "index.html" || file == project_page_name)
    return answer_file(request, *path, type_of(file), true);
  return answer_file(request, *path, type_of(file), file.ends_with("-variants.json"));
}

ServedAnswer ServedIndex::answer_shown(const ServedRequest& request,
                                       const std::vector<std::string>& path) const {
  return answer_file(request, path, type_of(path.back()), true);
}

ServedAnswer ServedIndex::answer_page(const ServedRequest& request,
                                      const std::vector<std::string>& folder) const {
  const auto form = negotiate_form(request.accept);
  if (!form) {
    return plain(406,
                 "there are application/vnd.pypi.simple.v1+json, "
                 "application/vnd.pypi.simple.v1+html and text/html");
  }
  std::vector<std::string> path = folder;
  path.emplace_back(form->form == PageForm::json ? "index.json" : "index.html");
  const std::string type = form->type.starts_with("text/")
                               ? std::string(form->type) + "; charset=utf-8"
                               : std::string(form->type);
  ServedAnswer answer = answer_file(request, path, type, true);
  answer.headers.emplace_back("Vary", "Accept");
  return answer;
}

ServedAnswer ServedIndex::answer_file(const ServedRequest& request,
                                      const std::vector<std::string>& path, std::string_view type,
                                      bool changes) const {
  Descriptor file = open_below(folder_, path);
  struct stat status = {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return plain(404, rendered(path) + " is not there");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const std::string etag = fmt::format("\"{:x}-{:x}-{:x}.{:x}\"", status.st_ino, size,
                                       status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  ServedAnswer answer;
  answer.headers = {{"Content-Type", std::string(type)},
                    {"ETag", etag},
                    {"Accept-Ranges", "bytes"},
                    {"Cache-Control", changes ? "no-cache" : "max-age=86400"}};
  if (type.starts_with("text/html")) {
    answer.headers.emplace_back("Content-Security-Policy",
                                fmt::format("{}; frame-ancestors 'none'", page_policy));
  }
  if (names_etag(request.if_none_match, etag)) {
    answer.status = 304;
    return answer;
  }
  const bool same = request.if_range.empty() || request.if_range == etag;
  const RequestedRange wanted =
      same ? parse_range(request.range, size) : RequestedRange{WantedRange::all};
  if (wanted.wanted == WantedRange::none_of_it) {
    answer.status = 416;
    answer.headers.emplace_back("Content-Range", fmt::format("bytes */{}", size));
    return answer;
  }
  answer.file = std::move(file);
  answer.length = size;
  if (wanted.wanted == WantedRange::all) return answer;
  answer.status = 206;
  answer.offset = wanted.offset;
  answer.length = wanted.length;
  answer.headers.emplace_back(
      "Content-Range",
      fmt::format("bytes {}-{}/{}", wanted.offset, wanted.offset + wanted.length - 1, size));
  return answer;
}

}  // namespace axle::index
