// PEP 503 pages.
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "index/html_content.h"
#include "index/page.h"
#include "index/page_entry.h"
#include "index/transport.h"
#include "index/url.h"
#include "wheel/ascii.h"

namespace axle::index {
namespace {

/// The largest known pages have 2 MB; a bound keeps gumbo's memory (some 30 bytes a byte) in
/// reason.
constexpr std::size_t max_html_bytes = 64U << 20;

/// PEP 658/714: "true", or "sha256=<digits>".
void read_metadata_mark(const HtmlLink& link, PublishedFile& file) {
  const auto& mark = link.core_metadata ? link.core_metadata : link.dist_info_metadata;
  if (!mark) return;
  const std::string_view text = wheel::trim_ascii(*mark);
  if (text.starts_with("sha256=")) file.metadata_sha256 = sha256_digits(text.substr(7));
  file.has_metadata = !text.empty() && text != "false";
}

void read_link(const HtmlLink& link, PageBuilder& builder) {
  const std::string_view href = wheel::trim_ascii(link.href);
  std::string filename = url_file_name(href);
  if (!is_distribution_name(filename)) return;
  PublishedFile& file = builder.begin();
  file.filename = std::move(filename);
  if (!note_fragment_hashes(file, split_url(href).fragment)) {
    return builder.leave_out("its sha256 is not 64 hexadecimal digits");
  }
  if (link.requires_python) file.requires_python = *link.requires_python;
  if (link.yanked) {
    file.yanked = true;
    file.yanked_reason = *link.yanked;
  }
  read_metadata_mark(link, file);
  builder.keep(href);
}

Result<ProjectPage> read_page(std::string_view body, std::string_view page_url, Report& report,
                              bool any_page) {
  if (body.size() > max_html_bytes) {
    return fail(ErrorKind::malformed, fmt::format("{} has {} bytes, more than any index page",
                                                  redact_url(page_url), body.size()));
  }
  std::optional<HtmlContent> plain = read_plain_html(body);
  const HtmlContent content = plain ? std::move(*plain) : read_any_html(body);
  if (!content.api_version.empty()) {
    if (const auto version = check_api_version(content.api_version, page_url); !version) {
      return std::unexpected(version.error());
    }
  }
  std::string base(without_fragment(page_url));
  if (content.base) base = resolve_url(base, wheel::trim_ascii(*content.base));
  PageBuilder builder(page_url, std::move(base), report);
  builder.reserve(content.links.size());
  for (const HtmlLink& link : content.links) read_link(link, builder);
  ProjectPage page = builder.finish();
  if (page.files.empty() && content.api_version.empty() && !content.titled && !any_page) {
    return fail(
        ErrorKind::malformed,
        fmt::format("{} is not a page of a package index: no link on it leads to a wheel or "
                    "source archive",
                    redact_url(page_url)),
        "check the index URL: it usually ends in /simple");
  }
  return page;
}

}  // namespace

Result<ProjectPage> parse_html_page(std::string_view body, std::string_view page_url,
                                    Report& report) {
  return read_page(body, page_url, report, false);
}

Result<ProjectPage> parse_link_page(std::string_view body, std::string_view page_url,
                                    Report& report) {
  return read_page(body, page_url, report, true);
}

}  // namespace axle::index
