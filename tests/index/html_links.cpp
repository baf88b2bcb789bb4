// What our reader finds on pages of HTML, for html_differential.py: pages arrive one after the
// other, each ended by a NUL; for each a line of every link, one of the base, one of the API
// version, and a NUL.
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "index/pages/html_reader.h"

namespace {

/// Absent is "-", present is "=" and the text with its line breaks made visible.
std::string shown(const std::optional<std::string_view>& value) {
  if (!value) return "-";
  std::string text = "=";
  for (const char c : *value) {
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\r') {
      text += "\\r";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

int main() {
  const std::string input(std::istreambuf_iterator<char>(std::cin), {});
  std::string_view rest = input;
  while (!rest.empty()) {
    const std::string_view page = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(page.size() + 1);
    axle::index::HtmlReader reader(page);
    while (const axle::index::HtmlLink* link = reader.next()) {
      std::cout << "a " << shown(link->href) << '\t' << shown(link->requires_python) << '\t'
                << shown(link->yanked) << '\t' << shown(link->core_metadata) << '\t'
                << shown(link->dist_info_metadata) << '\n';
    }
    std::cout << "base " << shown(reader.base()) << '\n';
    std::cout << "api " << reader.api_version() << '\n' << '\0';
  }
}
