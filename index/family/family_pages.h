#pragma once
// Which pages the URL of a family stands for: its marks ({label}, {version}, {torch}) filled in, or
// found again in the links of the page that lists them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/family/family.h"
#include "wheel/version.h"

namespace axle::index {

struct FamilyPage {
  std::string url;
  std::string label;  ///< of every file on it; empty: their names tell

  friend bool operator==(const FamilyPage&, const FamilyPage&) = default;
};

/// The pages of `family`, each once, those of the best labels first. A URL with {torch} has no
/// pages here.
[[nodiscard]] std::vector<FamilyPage> family_pages(const Family& family);
/// The same of one release of `member`, where {version} is in the URL: of the labels that the
/// file's entry for the release has builds of, but those that are on the default index. Without an
/// entry: none.
[[nodiscard]] std::vector<FamilyPage> family_pages(const Family& family, std::string_view member,
                                                   const wheel::Version& version);

/// The page that links to those of a URL with {torch}.
[[nodiscard]] std::string page_list_url(const Family& family);
/// Those that `body`, the page at `page_url`, links to and that count: of a label of the family and
/// of a release of torch of Family::torch_pages. In the order of the links, each once.
[[nodiscard]] std::vector<FamilyPage> linked_pages(const Family& family, std::string_view body,
                                                   const std::string& page_url);

}  // namespace axle::index
