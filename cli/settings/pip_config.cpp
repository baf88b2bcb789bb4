// pip's configuration format, which is that of Python's configparser.
#include <algorithm>

#include <fmt/core.h>

#include "cli/settings/layer.h"

namespace axle::cli {

Result<SettingsLayer> parse_pip_config(std::string_view text, const std::string& where) {
  SettingsLayer layer;
  SettingsLayer of_install;
  std::string section;
  std::string key;
  unsigned number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    std::string line(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] == '#' || line[first] == ';') continue;
    const std::string origin = fmt::format("{}:{}", where, number);
    const bool taken = section == "global" || section == "install";
    SettingsLayer& into = section == "install" ? of_install : layer;
    if (first > 0 && !key.empty()) {
      if (!taken) continue;
      for (std::string& word : split_words(line)) into.add(key, std::move(word), origin);
      continue;
    }
    if (line[first] == '[') {
      const std::size_t close = line.find(']', first);
      if (close == std::string::npos)
        return fail(ErrorKind::malformed, origin + ": a section without `]`");
      section = line.substr(first + 1, close - first - 1);
      key.clear();
      continue;
    }
    const std::size_t equals = line.find_first_of("=:", first);
    if (equals == std::string::npos)
      return fail(ErrorKind::malformed, origin + ": neither a section nor `key = value`");
    const std::vector<std::string> words = split_words(line.substr(first, equals - first));
    key = words.empty() ? std::string() : words.front();
    std::replace(key.begin(), key.end(), '_', '-');
    if (!taken) continue;
    into.values[key].clear();
    for (std::string& word : split_words(line.substr(equals + 1)))
      into.add(key, std::move(word), origin);
  }
  for (auto& [name, values] : of_install.values) layer.values[name] = std::move(values);
  return layer;
}

}  // namespace axle::cli
