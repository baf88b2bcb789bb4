// PEP 503 pages.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "index/pages/html_reader.h"
#include "index/pages/page.h"
#include "index/pages/page_entry.h"

namespace axle::index {
namespace {

/// PEP 658/714: "true", or "sha256=<digits>".
void read_metadata_mark(const HtmlLink& link, PublishedFile& file) {
  const auto& mark = link.core_metadata ? link.core_metadata : link.dist_info_metadata;
  if (!mark) return;
  const std::string_view text = text::trim_ascii(*mark);
  if (text.starts_with("sha256=")) file.metadata_sha256 = sha256_digits(text.substr(7));
  file.has_metadata = !text.empty() && text != "false";
}

void read_link(const HtmlLink& link, PageBuilder& builder) {
  const std::string_view href = text::trim_ascii(link.href);
  std::string filename = url_file_name(href);
  if (!is_distribution_name(filename)) return;
  PublishedFile& file = builder.begin();
  file.filename = std::move(filename);
  if (!note_fragment_hashes(file.hash, split_url(href).fragment)) {
    return builder.leave_out("its sha256 is not 64 hexadecimal digits");
  }
  if (link.requires_python) file.requires_python = *link.requires_python;
  if (link.yanked) {
    file.yanked = true;
    file.yanked_reason = *link.yanked;
  }
  read_metadata_mark(link, file);
  if (link.provenance) file.provenance = text::trim_ascii(*link.provenance);
  builder.keep(href);
}

/// The base of links: a <base> applies wherever it is, even after the links.
std::string base_of(std::string_view body, std::string_view page_url) {
  const std::string own(without_fragment(page_url));
  const auto begins_base = [&](std::size_t at) {
    return text::ascii_lower(body.substr(at, 5)) == "<base";
  };
  std::size_t at = body.find('<');
  while (at != std::string_view::npos && !begins_base(at)) at = body.find('<', at + 1);
  if (at == std::string_view::npos) return own;
  HtmlReader reader(body);
  while (!reader.base() && reader.next() != nullptr) continue;
  return reader.base() ? resolve_url(own, text::trim_ascii(*reader.base())) : own;
}

Result<ProjectPage> read_page(std::string_view body, std::string_view page_url, Report& report,
                              bool any_page) {
  PageBuilder builder(page_url, base_of(body, page_url), body.size(), report);
  HtmlReader reader(body);
  while (const HtmlLink* link = reader.next()) {
    if (!builder.has_room()) return std::unexpected(builder.too_large());
    read_link(*link, builder);
  }
  if (!reader.api_version().empty()) {
    if (const auto version = check_api_version(reader.api_version(), page_url); !version) {
      return std::unexpected(version.error());
    }
  }
  ProjectPage page = builder.finish();
  if (page.files.empty() && reader.api_version().empty() && !reader.is_titled() && !any_page) {
    return fail(
        ErrorKind::malformed,
        fmt::format(
            "{} is not a page of a package index: it has no link to a wheel or source archive",
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
