#pragma once
// What an index page in HTML says, apart from what it means. Two readers fill the same structure:
// one knows the plain form that simple indexes publish and steps aside from everything else, the
// other reads whatever a browser reads, at many times the price.

#include <optional>
#include <string_view>
#include <vector>

#include "index/arena.h"

namespace axle::index {

/// An <a> with an href; attributes as they are after character references are resolved.
struct HtmlLink {
  std::string_view href;
  std::optional<std::string_view> requires_python;
  std::optional<std::string_view> yanked;
  std::optional<std::string_view> core_metadata;
  std::optional<std::string_view> dist_info_metadata;

  bool operator==(const HtmlLink&) const = default;
};

/// Views lie in the text that was read or in `memory`.
struct HtmlContent {
  std::vector<HtmlLink> links;           ///< in document order
  std::optional<std::string_view> base;  ///< href of the first <base> that has one
  std::string_view api_version;          ///< of the pypi:repository-version mark; empty without
  bool titled = false;                   ///< "Links for …", the title that simple pages bear
  Arena memory;

  [[nodiscard]] bool says_the_same_as(const HtmlContent& other) const {
    return links == other.links && base == other.base && api_version == other.api_version &&
           titled == other.titled;
  }

  void note_base(std::string_view href);
  void note_meta(std::string_view name, std::string_view content);
  /// The text of a <title> or <h1>.
  void note_title(std::string_view text);
};

/// Nothing unless all of `body` is the plain form: ASCII without control characters but tab and
/// line feed; <html>, <head>, <body>, <meta>, <base>, <br>; <title>, <h1> and <a> with nothing but
/// text inside; lower-case names, values in quotes, the usual character references; comments. What
/// it gives then is what `read_any_html` gives.
[[nodiscard]] std::optional<HtmlContent> read_plain_html(std::string_view body);

/// As a browser would read it.
[[nodiscard]] HtmlContent read_any_html(std::string_view body);

}  // namespace axle::index
