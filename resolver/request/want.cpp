#include "resolver/request/want.h"

#include <algorithm>
#include <string_view>

#include "index/http/url.h"

namespace axle::resolver {

std::vector<const Want*> wants_of_user(const std::vector<Want>& wants) {
  std::vector<const Want*> result;
  for (const Want& want : wants) {
    if (want.by.empty()) result.push_back(&want);
  }
  return result;
}

std::vector<const Want*> binding_wants(const std::string& name, const std::vector<Want>& wants) {
  std::vector<const Want*> result;
  for (const Want& want : wants) {
    if (want.by != name) result.push_back(&want);
  }
  return result;
}

std::vector<std::string> direct_urls(const std::vector<const Want*>& wants) {
  std::vector<std::string> urls;
  const auto add = [&](const std::string& url, bool of_user) {
    // The user's own way to write it, perhaps with a hash, is the one that counts.
    const bool known = std::ranges::any_of(urls, [&](const std::string& other) {
      return url == other ||
             (!of_user && index::without_fragment(url) == index::without_fragment(other));
    });
    if (!url.empty() && !known) urls.push_back(url);
  };
  for (const Want* want : wants) {
    if (want->by.empty()) add(want->requirement.url, true);
  }
  for (const Want* want : wants) {
    if (!want->by.empty()) add(want->requirement.url, false);
  }
  return urls;
}

const Want* foreign_url(const std::vector<const Want*>& wants) {
  for (const Want* want : wants) {
    const std::string_view url = want->requirement.url;
    if (url.empty() || want->by.empty() || want->by_direct) continue;
    const bool named = std::ranges::any_of(wants, [&](const Want* other) {
      return other->by.empty() &&
             index::without_fragment(other->requirement.url) == index::without_fragment(url);
    });
    if (!named) return want;
  }
  return nullptr;
}

}  // namespace axle::resolver
