#include "index/html_content.h"

#include "wheel/ascii.h"

namespace axle::index {

void HtmlContent::note_base(std::string_view href) {
  if (!base) base = href;
}

void HtmlContent::note_meta(std::string_view name, std::string_view content) {
  if (api_version.empty() && name == "pypi:repository-version") {
    api_version = wheel::trim_ascii(content);
  }
}

void HtmlContent::note_title(std::string_view text) {
  titled = titled || wheel::trim_ascii(text).starts_with("Links for");
}

}  // namespace axle::index
