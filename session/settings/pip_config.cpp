// pip's configuration format, which is that of Python's configparser.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "foundation/text/ascii.h"
#include "session/settings/exclude_newer.h"
#include "session/settings/layer.h"
#include "session/variables.h"

namespace axle::session {

namespace {

constexpr std::string_view blanks = " \t\n\r\f\v";

std::string_view strip(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// As in pip: lower case, dashes, no leading dashes.
std::string normalize_key(std::string_view name) {
  std::string key = text::ascii_lower(name);
  std::ranges::replace(key, '_', '-');
  return key.starts_with("--") ? key.substr(2) : key;
}

class PipConfigReader {
 public:
  PipConfigReader(const std::string& where, std::string_view kind, std::string_view who)
      : where_(where), kind_(kind), who_(who) {}

  Result<PipSections> read(std::string_view text) {
    while (!text.empty()) {
      ++number_;
      // A line ends as in Python's text files: \n, \r\n or \r.
      const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end);
      if (text.starts_with("\r\n")) text.remove_prefix(1);
      if (!text.empty()) text.remove_prefix(1);
      if (auto taken = take(line); !taken) return std::unexpected(taken.error());
    }
    // Keys of [DEFAULT] apply to every section.
    for (auto& [name, section] : sections_) {
      for (const auto& [key, stated] : defaults_) section.try_emplace(key, stated);
      for (auto& [key, stated] : section) stated.value = strip(stated.value);
    }
    return std::move(sections_);
  }

 private:
  Result<void> take(std::string_view line) {
    const std::string_view value = strip(line);
    if (value.empty() || value[0] == '#' || value[0] == ';') return {};
    const std::size_t indent = line.find_first_not_of(blanks);
    if (key_ != nullptr && indent > indent_) {
      key_->value += '\n' + std::string(value);
      return {};
    }
    indent_ = indent;
    const std::size_t close = value.rfind(']');
    if (value[0] == '[' && close != std::string_view::npos && close > 1)
      return enter(std::string(value.substr(1, close - 1)));
    if (section_ == nullptr) return bad("there is no [section] above it");
    return take_key(value);
  }

  Result<void> enter(const std::string& name) {
    key_ = nullptr;
    name_ = name;
    section_ = name == "DEFAULT" ? &defaults_ : &sections_[name];
    if (name != "DEFAULT" && !seen_sections_.insert(name).second)
      return bad(fmt::format("duplicate section [{}]", name));
    return {};
  }

  Result<void> take_key(std::string_view value) {
    const std::size_t delimiter = value.find_first_of("=:");
    if (delimiter == std::string_view::npos)
      return bad("it is neither a section nor `key = value`");
    const std::string key = normalize_key(strip(value.substr(0, delimiter)));
    if (strip(value.substr(0, delimiter)).empty()) return bad("there is no key before the `=`");
    if (!seen_keys_.insert({name_, key}).second)
      return bad(fmt::format("duplicate key `{}` in [{}]", key, name_));
    key_ = &(*section_)[key];
    *key_ = {std::string(strip(value.substr(delimiter + 1))), fmt::format("{}:{}", where_, number_),
             number_};
    return {};
  }

  [[nodiscard]] std::unexpected<Error> bad(std::string_view why) const {
    return fail(ErrorKind::malformed,
                fmt::format("{}:{}: not a valid {}: {}", where_, number_, kind_, why),
                fmt::format("{} refuses the file too: fix the line, or remove it", who_));
  }

  const std::string& where_;
  std::string_view kind_;
  std::string_view who_;
  unsigned number_ = 0;
  std::size_t indent_ = std::numeric_limits<std::size_t>::max();
  PipSections sections_;
  std::map<std::string, Stated, std::less<>> defaults_;
  std::map<std::string, Stated, std::less<>>* section_ = nullptr;
  std::string name_;
  Stated* key_ = nullptr;
  std::set<std::string> seen_sections_;
  std::set<std::pair<std::string, std::string>> seen_keys_;
};

/// The number of the line with the first byte that is not UTF-8; 0: there is none.
unsigned line_that_is_not_utf8(std::string_view text) {
  unsigned number = 1;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') ++number;
    const std::size_t more = byte < 0x80   ? 0
                             : byte < 0xC2 ? 9
                             : byte < 0xE0 ? 1
                             : byte < 0xF0 ? 2
                             : byte < 0xF5 ? 3
                                           : 9;
    if (more == 9 || i + more >= text.size() + (more == 0 ? 1 : 0)) return number;
    for (std::size_t k = 1; k <= more; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0U) != 0x80) return number;
    }
    i += more + 1;
  }
  return 0;
}

/// As pip's options of type "path", and its links, which must then be there.
std::string expanded(std::string_view key, std::string value) {
  if (key == "cert" || key == "client-cert") return home_expanded(std::move(value));
  if (key != "find-links" || !value.starts_with('~')) return value;
  std::string path = home_expanded(value);
  std::error_code error;
  return std::filesystem::exists(path, error) ? path : value;
}

}  // namespace

Result<PipSections> parse_pip_config(std::string_view text, const std::string& where) {
  return parse_config_of("pip configuration", "pip", text, where);
}

Result<PipSections> parse_config_of(std::string_view kind, std::string_view who,
                                    std::string_view text, const std::string& where) {
  if (const unsigned line = line_that_is_not_utf8(text); line != 0)
    return fail(ErrorKind::malformed, fmt::format("{}:{}: not valid UTF-8", where, line),
                fmt::format("{} refuses the file too: save it as UTF-8", who));
  if (text.starts_with("\xEF\xBB\xBF"))
    return fail(ErrorKind::malformed,
                fmt::format("{}:1: not a valid {}: it begins with a byte order mark", where, kind),
                fmt::format("{} refuses the file too: save it as UTF-8 without one", who));
  return PipConfigReader(where, kind, who).read(text);
}

void add_pip_setting(SettingsLayer& layer, std::string_view name, const Stated& stated) {
  const std::string option = normalize_key(name);
  const SettingRow* row = find_pip_setting(option);
  if (row == nullptr || stated.value.empty()) return;
  if (row->key == "exclude-newer") {
    layer.values[std::string(row->key)] = {{pip_cutoff(stated.value), stated.origin}};
  } else if (row->kind != ValueKind::list) {
    layer.values[std::string(row->key)] = {
        {expanded(row->key, stated.value), stated.origin, stated.turn}};
  } else {
    for (std::string& word : split_words(stated.value))
      layer.add(row->key, expanded(row->key, std::move(word)), stated.origin, stated.turn);
  }
}

}  // namespace axle::session
