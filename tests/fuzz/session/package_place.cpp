// Packages by their place: what is taken is a requirement with an absolute URL that reads back.
#include "session/requests/package_place.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "session/requests/requirements_file.h"
#include "tests/fuzz/require.h"
#include "wheel/requirement.h"

namespace session = axle::session;
namespace wheel = axle::wheel;
using axle::fuzz::require;

namespace {

void check(wheel::Requirement requirement) {
  if (requirement.name.empty()) requirement.name = "sources";
  require(requirement.url.empty() || !requirement.url.starts_with("file:") ||
          requirement.url.starts_with("file:/"));
  const auto again = wheel::parse_requirement(wheel::render_requirement(requirement));
  require(again.has_value());
  require(again->url == requirement.url);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string spaced = session::space_before_marker(text);
  require(spaced.size() - text.size() <= 1);
  if (const auto place = session::parse_package_place(spaced)) {
    require(place->place + place->tail == spaced.substr(spaced.find(place->place)));
    if (const auto found = session::requirement_at(*place, "sub")) check(*found);
    return 0;
  }
  auto requirement = wheel::parse_requirement(spaced);
  if (!requirement || !session::make_absolute(*requirement, "sub")) return 0;
  check(*requirement);
  return 0;
}
