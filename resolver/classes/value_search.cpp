// Which values of facts there are to try: those that are known, those that some derivation named,
// and mixtures of GPUs.

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "foundation/text/ascii.h"
#include "providers/gpu_archs.h"
#include "providers/nvidia_state.h"
#include "resolver/classes/box_growth.h"

namespace axle::resolver {
namespace {

using Found = std::vector<std::pair<std::string, std::string>>;  // fact, value

/// "12.8"; of "14" the first of that major version.
std::optional<std::pair<unsigned, unsigned>> version_in(const std::string& value) {
  const bool whole = !value.empty() && std::ranges::all_of(value, text::is_ascii_digit);
  return providers::parse_major_minor(whole ? value + ".0" : value);
}

void add_driver(Found& found, const std::string& value) {
  if (const auto version = version_in(value); version && version->first >= 11)
    found.emplace_back("driver", providers::render_version(*version));
}

/// "90" of "90_real", "103" of "103f_virtual".
void add_capability(Found& found, const std::string& value) {
  const std::size_t end = value.find_first_not_of("0123456789");
  constexpr std::size_t longest = 3;
  if (!value.contains('_') || end == std::string::npos || end < 2 || end > longest ||
      value.front() == '0')
    return;
  found.emplace_back("sm", value.substr(0, end));
}

/// The values that a property names.
Found values_named(const wheel::Property& property) {
  Found found;
  const auto& [ns, feature, value] = property;
  if (ns == "nvidia" && feature != "sm_arch") add_driver(found, value);
  if (ns == "nvidia" && feature == "sm_arch") add_capability(found, value);
  if (ns == "axle" && feature == "cuda_code_or_jit" && !value.contains('_'))
    add_driver(found, value);
  if (ns == "axle" && feature.starts_with("cuda_code")) add_capability(found, value);
  const bool gfx =
      (ns == "amd" && feature == "gfx_arch") || (ns == "axle" && feature == "gfx_code");
  if (gfx && !value.ends_with("generic") && providers::gfx_name(value) == value)
    found.emplace_back("gfx", value);
  if ((ns == "amd" && feature == "rocm_version") || feature == "rocm_version_lower_bound") {
    if (const auto version = version_in(value)) {
      found.emplace_back("rocm", providers::render_version(*version));
      // Of a version that only this property names, the next one is another.
      found.emplace_back("rocm", providers::render_version({version->first, version->second + 1}));
    }
  }
  if (ns == "axle" && feature == "mps") {
    if (const auto version = version_in(value))
      found.emplace_back("mps", providers::render_version(*version));
  }
  if (ns == "intel") found.emplace_back("device", value);
  if (ns == "ascend" && feature == "npu_type") found.emplace_back("npu", value);
  if (ns == "ascend" && feature == "driver_version") found.emplace_back("npu_driver", value);
  if (ns == "ascend" && feature == "cann_version") found.emplace_back("cann", value);
  return found;
}

void add_once(std::vector<std::string>& values, std::string_view value) {
  if (std::ranges::find(values, value) == values.end()) values.emplace_back(value);
}

Range only_value(const std::string& value) { return {.values = {value}}; }

}  // namespace

void BoxGrowth::learn_values(const Box& box) {
  known_.clear();
  Found found;
  for (const Derivation& derivation : derivations_.all()) {
    const auto add = [&](const wheel::Property& property) {
      std::ranges::move(values_named(property), std::back_inserter(found));
    };
    std::ranges::for_each(derivation.used.properties, add);
    for (const auto& run : derivation.used.runs) std::ranges::for_each(run, add);
  }
  for (const auto& [fact, range] : box) {
    std::vector<std::string>& values = known_[fact];
    values = known_values(fact);
    add_once(values, "");
    add_once(values, value_of(facts_, fact));
    for (const auto& [of, value] : found) {
      if (of == fact) add_once(values, value);
    }
    std::ranges::sort(values, is_older);
  }
}

std::vector<std::string> BoxGrowth::singles_in(const Range& range, const std::string& fact) {
  if (fact != "sm" && fact != "gfx" && fact != "device") return {};
  std::vector<std::string> singles = values_in(range, fact, known_.at(fact));
  std::erase_if(singles, [](const std::string& one) { return one.empty() || one.contains('+'); });
  std::ranges::sort(singles, is_older);
  return singles;
}

std::optional<std::vector<std::string>> BoxGrowth::mixtures(
    const std::string& fact, const std::vector<std::string>& singles) {
  // Single GPUs by what any derivation sees of them, with every value of what goes with them.
  std::map<std::string, std::vector<std::string>> alike;
  FactValues platform;
  for (const char* of : {"system", "arch"}) {
    if (const std::string_view value = value_of(facts_, of); !value.empty())
      platform.emplace(of, value);
  }
  // Derivations of one shape see the same.
  std::map<std::size_t, Derivation*> shapes;
  for (Derivation& derivation : derivations_.each()) {
    if (used_.contains(&derivation)) shapes.try_emplace(derivation.shape, &derivation);
  }
  for (const std::string& single : singles) {
    std::string seen;
    Box some = box_;
    some[fact] = only_value(single);
    for (const auto& [shape, derivation] : shapes) {
      for (std::size_t k = 0; k < derivation->groups.size(); ++k) {
        const FactGroup& group = derivation->groups[k];
        if (std::ranges::find(group, fact) == group.end()) continue;
        const auto cells = cells_of(some, group, platform);
        if (!cells) return std::nullopt;
        for (const Cell& cell : *cells) {
          FactValues point = platform;
          for (std::size_t j = 0; j < cell.size(); ++j) {
            if (!cell[j].empty()) point.insert_or_assign(group[j], cell[j]);
          }
          seen += derivations_.signature(*derivation, k, point);
        }
      }
    }
    alike[seen].push_back(single);
  }
  // Of each kind the oldest and the newest: which of two unlike GPUs is newer may matter.
  std::vector<std::pair<std::size_t, std::string>> some;
  for (const auto& [seen, values] : alike) {
    const std::size_t kind = some.size();
    some.emplace_back(kind, values.front());
    if (values.size() > 1) some.emplace_back(kind, values.back());
  }
  std::vector<std::string> mixed;
  const auto add = [&](const std::string& values) {
    const std::string value(
        value_of(facts_of(machine_with({{fact, values}}), derivations_.gpus()), fact));
    if (value.contains('+')) add_once(mixed, value);
  };
  constexpr std::size_t most = 40;
  for (std::size_t i = 0; i < some.size(); ++i) {
    for (std::size_t j = i + 1; j < some.size() && mixed.size() <= most; ++j) {
      // Two of one kind are as one of it, as far as the derivations go that are known.
      add(some[i].second + "+" + some[j].second);
      if (some[i].first == some[j].first) continue;
      for (std::size_t k = j + 1; k < some.size() && mixed.size() <= most; ++k) {
        if (some[k].first == some[i].first || some[k].first == some[j].first) continue;
        add(some[i].second + "+" + some[j].second + "+" + some[k].second);
      }
    }
  }
  if (mixed.size() > most) return std::nullopt;
  return mixed;
}

bool BoxGrowth::add_mixtures(Box& box) {
  for (auto& [fact, range] : box) {
    const auto singles = singles_in(range, fact);
    if (singles.empty() || (!range.mixed && !range.any)) continue;
    const auto unlike = mixtures(fact, singles);
    if (!unlike) return false;
    range.values.insert(unlike->begin(), unlike->end());
  }
  return true;
}

}  // namespace axle::resolver
