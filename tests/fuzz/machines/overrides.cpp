// Override variables: lines of NAME=VALUE. Whatever they say, the lists stay bounded and well
// formed.
#include "machines/overrides.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "providers/provider.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t most_values = 4096;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<axle::machines::Override> overrides;
  for (int line = 0; line < 64 && !rest.empty(); ++line) {
    const std::size_t end = rest.find('\n');
    const std::string_view text = rest.substr(0, end);
    if (const std::size_t equals = text.find('='); equals != std::string_view::npos)
      overrides.push_back(
          {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))});
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  axle::detect::Machine machine;
  axle::CollectedReport report;
  if (!axle::machines::apply_overrides(machine, overrides, report)) return 0;
  for (const axle::providers::Provider& provider : axle::providers::builtin_providers()) {
    for (const auto& feature : provider.supported(machine, {axle::providers::GpuRule::any, {}})) {
      if (feature.values.empty() || feature.values.size() > most_values + size) std::abort();
      for (const std::string& value : feature.values) {
        if (value.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") != std::string::npos)
          std::abort();
      }
    }
  }
  return 0;
}
