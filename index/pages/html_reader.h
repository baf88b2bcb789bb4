#pragma once
// What an index page in HTML says, apart from what it means. The page is cut into tags by the rules
// of the HTML standard (https://html.spec.whatwg.org/multipage/parsing.html#tokenization); no tree
// is built of them, because links need none and every tree builder has inputs that take it
// quadratic time (nested, misnested or repeatedly reopened elements). pip reads pages the same way.
// Time is linear in the page, and nothing is kept but one link.

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace axle::index {

/// An <a> with an href; values with their character references resolved.
struct HtmlLink {
  std::string_view href;
  std::optional<std::string_view> requires_python;
  std::optional<std::string_view> yanked;
  std::optional<std::string_view> core_metadata;
  std::optional<std::string_view> dist_info_metadata;
  std::optional<std::string_view> provenance;
};

class HtmlReader {
 public:
  /// `body` is UTF-8 and must outlive the reader.
  explicit HtmlReader(std::string_view body);

  /// The next link in document order, valid until the next call; nullptr at the end of the page.
  [[nodiscard]] const HtmlLink* next();

  // The data of the page up to here.

  /// href of the first <base> that has one.
  [[nodiscard]] const std::optional<std::string>& base() const { return base_; }
  /// From the pypi:repository-version meta tag; empty without.
  [[nodiscard]] const std::string& api_version() const { return api_version_; }
  /// "Links for …", the title of simple pages.
  [[nodiscard]] bool is_titled() const { return titled_; }

 private:
  /// The attributes that are used; others are not stored.
  enum Known : std::size_t {
    href,
    name,
    content,
    requires_python,
    yanked,
    core_metadata,
    dist_info_metadata,
    provenance,
    known_count,
  };
  static const std::array<std::string_view, known_count> known_names;

  bool skip_to(char c);
  void skip_past(std::string_view end);
  void skip_spaces();
  template <class Ends>
  std::string_view take_until(Ends ends);

  bool read_markup();
  void skip_comment();
  bool read_tag(bool is_end);
  std::string_view take_text_content(std::string_view tag);
  bool read_attributes();
  bool read_value(std::string_view& value);
  void keep(std::string_view attribute, std::string_view value);
  std::optional<std::string_view> value(Known known);
  bool note_link();
  void note_base();
  void note_meta();
  void note_title(std::string_view text);

  std::string_view rest_;
  /// Of the current tag: as written, and copied if references had to be resolved.
  std::array<std::optional<std::string_view>, known_count> values_;
  std::array<std::string, known_count> resolved_;
  HtmlLink link_;
  std::optional<std::string> base_;
  std::string api_version_;
  bool titled_ = false;
};

/// `text` with "&amp;", "&lt;", "&gt;", "&quot;", "&apos;" and numeric references replaced. Other
/// names are kept: none of them is a character of a file name, a version or a hash.
[[nodiscard]] std::string resolve_references(std::string_view text);

}  // namespace axle::index
