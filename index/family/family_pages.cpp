#include "index/family/family_pages.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "foundation/text/ascii.h"
#include "index/http/url.h"
#include "index/pages/html_reader.h"

namespace axle::index {
namespace {

/// More pages of one family are not read: PyG, which has most, has some 150 of all times.
constexpr std::size_t most_pages = 500;

void fill_in(std::string& url, std::string_view mark, std::string_view text) {
  for (std::size_t at = url.find(mark); at != std::string::npos; at = url.find(mark, at))
    url.replace(at, mark.size(), text);
}

void add_page(std::vector<FamilyPage>& pages, FamilyPage page) {
  if (pages.size() < most_pages && std::ranges::find(pages, page) == pages.end())
    pages.push_back(std::move(page));
}

/// What stands for the marks of a template.
struct Filling {
  std::string_view label;
  std::string_view torch;
};

bool is_filling(std::string_view text) {
  return !text.empty() && text.size() <= 32 &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._") == std::string_view::npos;
}

/// nullopt: `url` is not the template with its marks filled in. A mark ends where the text behind
/// it begins.
std::optional<Filling> match(std::string_view url, std::string_view pattern) {
  Filling filling;
  for (;;) {
    const std::size_t mark = pattern.find('{');
    if (mark == std::string_view::npos)
      return url == pattern ? std::optional(filling) : std::nullopt;
    if (url.substr(0, mark) != pattern.substr(0, mark)) return std::nullopt;
    const std::size_t close = pattern.find('}', mark);
    const std::string_view name = pattern.substr(mark, close + 1 - mark);
    url.remove_prefix(mark);
    pattern.remove_prefix(close + 1);
    const std::string_view behind = pattern.substr(0, pattern.find('{'));
    const std::size_t end = behind.empty() ? url.size() : url.find(behind);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = url.substr(0, end);
    if (!is_filling(text)) return std::nullopt;
    std::string_view& place = name == label_mark ? filling.label : filling.torch;
    if (!place.empty() && place != text) return std::nullopt;
    place = text;
    url.remove_prefix(end);
  }
}

bool counts(const Family& family, const Filling& filling) {
  if (!filling.label.empty() && family.label(filling.label) == nullptr) return false;
  const auto torch = wheel::parse_version(filling.torch);
  return torch && family.torch_pages.contains(*torch);
}

/// Of some platform the release has a build `label` that is not the default index's plain wheel.
bool has_pages(const FamilyRelease& release, std::string_view label) {
  return std::ranges::any_of(release.builds, [&](const FamilyBuild& build) {
    const auto usual = release.default_index.find(build.platform);
    return build.label == label && (usual == release.default_index.end() || usual->second != label);
  });
}

/// `entry`: of the release; nullptr: the pages are of all.
std::vector<FamilyPage> filled_in(const Family& family, const FamilyRelease* entry,
                                  std::string_view release) {
  std::vector<FamilyPage> pages;
  if (family.url.contains(torch_mark)) return pages;
  const auto add = [&](const FamilyLabel* label) {
    std::string url = label == nullptr || label->url.empty() ? family.url : label->url;
    const bool folder = family.label_in == LabelPlace::folder && label != nullptr;
    if (label != nullptr) fill_in(url, label_mark, label->name);
    fill_in(url, version_mark, release);
    add_page(pages, {std::move(url), folder ? label->name : std::string()});
  };
  const bool one_for_all = !family.url.contains(label_mark);
  if (one_for_all) add(nullptr);
  for (const FamilyLabel& label : family.labels) {
    if (entry != nullptr && !has_pages(*entry, label.name)) continue;
    if (!one_for_all || !label.url.empty()) add(&label);
  }
  return pages;
}

}  // namespace

std::vector<FamilyPage> family_pages(const Family& family) {
  return filled_in(family, nullptr, {});
}

std::vector<FamilyPage> family_pages(const Family& family, std::string_view member,
                                     const wheel::Version& version) {
  const FamilyRelease* entry = find_release(family, member, version);
  if (entry == nullptr) return {};
  return filled_in(family, entry, wheel::render_version(version.public_version()));
}

std::string page_list_url(const Family& family) {
  // The part before the first mark: braces are no part of a URL.
  return resolve_url(family.url.substr(0, family.url.find('{')), family.page_list);
}

std::vector<FamilyPage> linked_pages(const Family& family, std::string_view body,
                                     const std::string& page_url) {
  std::vector<FamilyPage> pages;
  const std::string pattern = percent_decode(family.url);
  std::set<std::string> seen;
  HtmlReader reader(body);
  while (const HtmlLink* link = reader.next()) {
    const std::string url = resolve_url(page_url, text::trim_ascii(link->href));
    const std::string plain = percent_decode(without_fragment(url));
    const auto filling = match(plain, pattern);
    if (filling && counts(family, *filling) && seen.insert(plain).second)
      add_page(pages, {std::string(without_fragment(url)), {}});
  }
  return pages;
}

}  // namespace axle::index
