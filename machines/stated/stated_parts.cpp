#include "machines/stated/stated_parts.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>

#include <fmt/format.h>

#include "detect/gpu_vendors.h"
#include "machines/fact_words.h"

namespace axle::machines {

namespace {

std::string_view namespace_of(std::string_view part) { return part.substr(0, part.find(':')); }

bool is_system(std::string_view part) {
  constexpr std::array<std::string_view, 3> systems = {"linux", "windows", "macos"};
  return std::ranges::find(systems, namespace_of(part)) != systems.end();
}

/// Of a driver, which a machine has once for each vendor; of a GPU it has several.
bool is_of_driver(std::string_view key) {
  return key != "gpu" && key != "sm" && key != "gfx" && key != "ip";
}

}  // namespace

std::vector<std::string_view> parts_in_order(std::string_view text) {
  std::vector<std::string_view> given = split(text, ";");
  if (given.back().empty()) given.pop_back();
  std::vector<std::string_view> parts;
  for (const bool systems : {true, false}) {
    std::ranges::copy_if(given, std::back_inserter(parts),
                         [&](std::string_view part) { return is_system(part) == systems; });
  }
  return parts;
}

Result<void> check_stated_once(const std::vector<std::string_view>& parts) {
  std::map<std::string, std::string_view, std::less<>> stated;
  std::map<std::string_view, std::string> drivers;  // by the vendor's namespace: "cuda=12.4"
  const auto add = [&](std::string fact, std::string_view value) -> Result<void> {
    const auto [known, added] = stated.emplace(std::move(fact), value);
    if (added || known->second == value) return {};
    return fail(ErrorKind::not_found,
                fmt::format("{} is stated twice: {} and {}", known->first, known->second, value),
                fmt::format("nearest that can be: {} with {} or with {} alone", known->first,
                            known->second, value));
  };
  for (const std::string_view part : parts) {
    const std::string_view ns = namespace_of(part);
    if (ns.size() == part.size()) continue;
    const std::string_view text = part.substr(ns.size() + 1);
    if (is_system(part) || ns == "libc") {
      if (auto once = add(std::string(ns), text); !once) return once;
      continue;
    }
    if (!detect::parse_vendor(ns)) continue;
    std::string of_driver;
    for (const std::string_view fact : split(text, ",")) {
      const std::string_view key = fact.substr(0, fact.find('='));
      if (key.size() == fact.size() || !is_of_driver(key)) continue;
      auto once = add(fmt::format("{}:{}", ns, key), fact.substr(key.size() + 1));
      if (!once) return once;
      of_driver += (of_driver.empty() ? "" : ",") + std::string(fact);
    }
    if (of_driver.empty()) continue;
    // One part is read as all that is known of a driver.
    const auto [earlier, first] = drivers.emplace(ns, of_driver);
    if (!first && earlier->second != of_driver)
      return fail(ErrorKind::not_found,
                  fmt::format("the {} driver is stated in two parts: {} and {}", ns,
                              earlier->second, of_driver),
                  fmt::format("nearest that can be: {}:{},{}", ns, earlier->second, of_driver));
  }
  return {};
}

}  // namespace axle::machines
