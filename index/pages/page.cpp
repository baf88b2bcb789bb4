#include "index/pages/page.h"

#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "index/http/redaction.h"

namespace axle::index {
namespace {

constexpr std::string_view versioned_prefix = "application/vnd.pypi.simple.";

std::string bare_type(std::string_view content_type) {
  return text::ascii_lower(text::trim_ascii(content_type.substr(0, content_type.find(';'))));
}

}  // namespace

Result<ProjectPage> parse_page(std::string body, std::string_view content_type,
                               std::string_view page_url, Report& report) {
  const std::string type = bare_type(content_type);
  if (type == "application/vnd.pypi.simple.v1+json" || type == "application/json") {
    return parse_json_page(std::move(body), page_url, report);
  }
  if (type == "application/vnd.pypi.simple.v1+html" || type == "text/html" ||
      type == "application/xhtml+xml") {
    return parse_html_page(body, page_url, report);
  }
  if (type.starts_with(versioned_prefix)) {
    return fail(
        ErrorKind::unsupported,
        fmt::format("{} returned the type {}; this program supports version 1 of the simple API",
                    redact_url(page_url), type),
        "use a newer release of this program, or another index");
  }
  return fail(ErrorKind::malformed,
              fmt::format("{} is not a page of a package index: its type is '{}'",
                          redact_url(page_url), type.empty() ? "not given" : type),
              "check the index URL: it usually ends in /simple");
}

}  // namespace axle::index
