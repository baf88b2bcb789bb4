// uv.lock, pylock.toml, poetry.lock and [tool.poetry]: read, or refused with the file's name; what
// is taken of them is requirements and versions.
#include <cstdint>
#include <string>
#include <string_view>

#include "session/projects/imported_project.h"
#include "tests/fuzz/require.h"
#include "wheel/requirement.h"

namespace {

using axle::fuzz::require;

void check(const axle::Result<axle::session::ImportedProject>& read) {
  if (!read) {
    require(read.error().message.starts_with("file.lock"));
    return;
  }
  for (const std::string& text : read->dependencies)
    require(axle::wheel::parse_requirement(text).has_value());
  for (const auto& [name, list] : read->extras)
    for (const std::string& text : list) require(axle::wheel::parse_requirement(text).has_value());
  for (const auto& [name, list] : read->groups)
    for (const std::string& text : list) require(axle::wheel::parse_requirement(text).has_value());
  for (const auto& [name, version] : read->pins) require(name == axle::wheel::normalize_name(name));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(axle::session::parse_uv_lock(text, "file.lock"));
  check(axle::session::parse_pylock(text, "file.lock"));
  check(axle::session::parse_poetry_lock(text, "file.lock"));
  check(axle::session::parse_poetry_project(text, "file.lock"));
  return 0;
}
