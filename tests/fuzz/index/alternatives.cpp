// Property: a group of alternatives is taken whole or refused with a place; what is taken has two
// members or more, each with a name and a source.

#include "index/family/alternatives.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto group = index::parse_alternatives(text, "group.toml");
  if (!group) {
    if (group.error().message.empty()) __builtin_trap();
    return 0;
  }
  if (group->members.size() < 2 || group->projects().empty()) __builtin_trap();
  for (const index::AlternativeMember& member : group->members) {
    if (member.project.empty() || member.sources.empty()) __builtin_trap();
  }
  return 0;
}
