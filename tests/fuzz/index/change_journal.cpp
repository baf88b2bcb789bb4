// Whatever lies in the journal of an index: refused, or steps that stay in the index and are
// written back the same.
#include "index/publish/change_journal.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto steps = axle::index::parse_change(text, "journal");
  if (!steps) return 0;
  for (const axle::index::ChangeStep& step : *steps) {
    const std::filesystem::path path(step.path);
    const bool stays = path.is_relative() && path.lexically_normal() == path &&
                       path.has_filename() && *path.begin() != "..";
    if (!stays) std::abort();
  }
  if (axle::index::render_change(*steps) != text) std::abort();
  return 0;
}
