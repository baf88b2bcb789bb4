#include <string>

#include "index/http/url.h"
#include "plan/lock/lock.h"

namespace axle::plan {

std::string absolute_place(std::string_view place, const std::string& folder) {
  const bool is_url = place.contains("://") || place.starts_with("file:");
  if (place.empty() || is_url || place.starts_with('/')) return std::string(place);
  std::string url = index::resolve_url(index::file_url(folder) + "/", place);
  while (url.ends_with('/')) url.pop_back();
  return url;
}

}  // namespace axle::plan
