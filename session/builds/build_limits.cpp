#include "session/builds/build_limits.h"

#include <filesystem>
#include <system_error>

#include <fcntl.h>

#include "installer/file_access.h"

namespace axle::session {

namespace fs = std::filesystem;

Result<std::vector<std::string>> limit_words(const Settings& settings, const BuildTool& tool,
                                             const std::string& scratch) {
  std::vector<std::string> words;
  for (const Stated& stated : settings.build_constraint_files) {
    std::error_code error;
    const bool url = stated.value.contains("://");
    words.insert(words.end(),
                 {tool.limits, url ? stated.value : fs::absolute(stated.value, error).string()});
  }
  std::string text;
  for (const Stated& stated : settings.build_constraint_texts) text += stated.value + "\n";
  if (text.empty()) return words;
  const std::string file = scratch + "/build-constraints.txt";
  if (auto written = installer::create_file(AT_FDCWD, file, text, false); !written)
    return std::unexpected(std::move(written).error());
  words.insert(words.end(), {tool.limits, file});
  return words;
}

std::string build_settings_identity(const Settings& settings) {
  std::string text;
  for (const Stated& stated : settings.config_settings) text += "set " + stated.value + "\n";
  for (const Stated& stated : settings.build_constraint_texts)
    text += "limit " + stated.value + "\n";
  for (const Stated& stated : settings.build_constraint_files) {
    constexpr std::size_t longest_file = 1U << 20;
    const auto content = installer::read_file(stated.value, longest_file);
    text += "limits " + (content ? *content : stated.value) + "\n";
  }
  return text;
}

}  // namespace axle::session
