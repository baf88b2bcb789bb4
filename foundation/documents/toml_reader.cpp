#include "foundation/documents/toml_reader.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "foundation/documents/toml_text.h"
#include "foundation/text/ascii.h"
#include "foundation/text/nearest.h"

namespace axle::documents {
namespace {

/// tomlplusplus parses and frees dotted keys by recursion: some 40,000 segments overflow the stack.
/// It limits nested values itself.
constexpr std::size_t most_key_segments = 100;

/// The characters of a bare key.
bool belongs_to_key(char c) {
  return text::is_ascii_alnum(c) || c == '-' || c == '_' || c == '.' || c == ' ' || c == '\t' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// The line of the first key with more segments than any real one; 0 if there is none. Strings and
/// comments are skipped; dots in values (`3.14`, `1979-05-27 07:32:00.5`) are few.
std::size_t line_of_overlong_key(std::string_view text) {
  std::size_t line = 1;
  std::size_t segments = 1;
  while (!text.empty()) {
    std::size_t length = 1;
    if (text[0] == '"' || text[0] == '\'') {
      length = toml_string_length(text);
    } else if (text[0] == '#') {
      length = std::min(text.find('\n'), text.size());
    } else if (text[0] == '.') {
      if (++segments > most_key_segments) return line;
    } else if (!belongs_to_key(text[0])) {
      segments = 1;
    }
    line += static_cast<std::size_t>(std::ranges::count(text.substr(0, length), '\n'));
    text.remove_prefix(length);
  }
  return 0;
}

}  // namespace

std::string TomlReading::place(const toml::node& node) const {
  const auto line = node.source().begin.line;
  return line == 0 ? where_ : fmt::format("{}:{}", where_, line);
}

void TomlReading::refuse(const toml::node& node, std::string_view path, std::string_view why,
                         std::string hint, ErrorKind kind) {
  refuse(Error{kind, fmt::format("{}: {}: {}", place(node), path, why), std::move(hint)});
}

void TomlReading::refuse(Error error) {
  if (!error_) error_ = std::move(error);
}

std::string TomlTable::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const toml::node* TomlTable::find(std::string_view key) {
  known_.emplace_back(key);
  return table_.get(key);
}

bool TomlTable::has_schema(std::int64_t known) {
  const toml::node* const node = find("schema");
  if (node == nullptr || !node->is_integer()) {
    refuse("schema", node == nullptr ? "the key is missing" : "expected a number",
           fmt::format("write `schema = {}`", known));
    return false;
  }
  const std::int64_t schema = node->as_integer()->get();
  if (schema == known) return true;
  refuse("schema", fmt::format("schema {} is not supported, only {}", schema, known),
         "a newer version of Axle may read the file", ErrorKind::unsupported);
  return false;
}

void TomlTable::refuse(std::string_view key, std::string_view why, std::string hint,
                       ErrorKind kind) {
  const toml::node* node = table_.get(key);
  reading_.refuse(node == nullptr ? table_ : *node, path_of(key), why, std::move(hint), kind);
}

std::optional<std::string> TomlTable::text(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_string()) {
    refuse(key, "expected a string");
    return std::nullopt;
  }
  return node->as_string()->get();
}

std::string TomlTable::required_text(std::string_view key) {
  auto value = text(key);
  if (!value && table_.get(key) == nullptr) refuse(key, "the key is missing");
  return value.value_or("");
}

std::optional<bool> TomlTable::flag(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_boolean()) {
    refuse(key, "expected true or false");
    return std::nullopt;
  }
  return node->as_boolean()->get();
}

std::vector<std::string> TomlTable::texts(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  std::vector<std::string> values;
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    refuse(key, "expected an array of strings");
    return {};
  }
  for (const toml::node& element : *array) {
    if (!element.is_string()) {
      reading_.refuse(element, path_of(key), "expected a string");
      return {};
    }
    values.push_back(element.as_string()->get());
  }
  return values;
}

std::vector<std::pair<std::string, std::string>> TomlTable::text_pairs(std::string_view key) {
  std::vector<std::pair<std::string, std::string>> pairs;
  auto inner = table(key);
  if (!inner) return pairs;
  for (const auto& [name, node] : inner->node()) {
    pairs.emplace_back(std::string(name.str()), inner->text(name.str()).value_or(""));
  }
  return pairs;
}

std::optional<TomlTable> TomlTable::table(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_table()) {
    refuse(key, "expected a table");
    return std::nullopt;
  }
  return TomlTable(*node->as_table(), path_of(key), reading_);
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  std::vector<TomlTable> tables;
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    refuse(key, "expected an array of tables");
    return {};
  }
  for (const toml::node& element : *array) {
    if (!element.is_table()) {
      reading_.refuse(element, path_of(key), "expected a table");
      return {};
    }
    tables.emplace_back(*element.as_table(), fmt::format("{}[{}]", path_of(key), tables.size()),
                        reading_);
  }
  return tables;
}

void TomlTable::finish() {
  for (const auto& [key, node] : table_) {
    if (std::ranges::find(known_, key.str()) != known_.end()) continue;
    const std::set<std::string> known(known_.begin(), known_.end());
    reading_.refuse(node, path_of(key.str()), "unknown key",
                    text::did_you_mean(key.str(), {known.begin(), known.end()}));
  }
}

Result<toml::table> parse_toml(std::string_view text, const std::string& where) {
  if (text.size() > most_toml_bytes) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: {} bytes, too large for such a file", where, text.size()));
  }
  if (const std::size_t line = line_of_overlong_key(text); line != 0) {
    return fail(
        ErrorKind::malformed,
        fmt::format("{}:{}: a key has more than {} segments", where, line, most_key_segments),
        "no setting is nested that deeply; check the file");
  }
  try {
    return toml::parse(text, where);
  } catch (const toml::parse_error& error) {
    return fail(ErrorKind::malformed,
                fmt::format("{}:{}:{}: is not TOML: {}", where, error.source().begin.line,
                            error.source().begin.column, error.description()));
  }
}

}  // namespace axle::documents
