#include "foundation/documents/toml_writer.h"

#include <algorithm>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/utf8.h"

namespace axle::documents {
namespace {

bool is_bare_key(std::string_view key) {
  return !key.empty() && std::ranges::all_of(key, [](char c) {
    return text::is_ascii_alnum(c) || c == '-' || c == '_';
  });
}

}  // namespace

std::string TomlWriter::quoted(std::string_view text) {
  std::string written = "\"";
  for (const char c : text::repair_utf8(text)) {
    if (c == '"' || c == '\\') {
      written += '\\';
      written += c;
    } else if (c == '\n') {
      written += "\\n";
    } else if (c == '\t') {
      written += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      written += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      written += c;
    }
  }
  return written + '"';
}

void TomlWriter::comment(std::string_view text) {
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    text_ += end == 0 ? std::string("#\n") : fmt::format("# {}\n", text.substr(0, end));
    if (end == text.size()) return;
    text.remove_prefix(end + 1);
  }
}

void TomlWriter::table(std::string_view path) {
  text_ += fmt::format("{}[{}]\n", text_.empty() ? "" : "\n", path);
}

void TomlWriter::element(std::string_view path) {
  text_ += fmt::format("{}[[{}]]\n", text_.empty() ? "" : "\n", path);
}

void TomlWriter::open(std::string_view key) {
  text_ += is_bare_key(key) ? std::string(key) : quoted(key);
  text_ += " = ";
}

void TomlWriter::raw(std::string_view key, std::string_view value) {
  open(key);
  text_ += value;
  text_ += '\n';
}

void TomlWriter::text(std::string_view key, std::string_view value) { raw(key, quoted(value)); }

void TomlWriter::text_if_any(std::string_view key, std::string_view value) {
  if (!value.empty()) text(key, value);
}

void TomlWriter::number(std::string_view key, std::uint64_t value) {
  raw(key, fmt::format("{}", value));
}

void TomlWriter::flag(std::string_view key, bool value) { raw(key, value ? "true" : "false"); }

void TomlWriter::texts(std::string_view key, const std::vector<std::string>& values) {
  if (values.size() < 2) {
    raw(key, values.empty() ? "[]" : fmt::format("[{}]", quoted(values.front())));
    return;
  }
  std::vector<std::string> strings;
  strings.reserve(values.size());
  for (const std::string& value : values) strings.push_back(quoted(value));
  raws(key, strings);
}

void TomlWriter::raws(std::string_view key, const std::vector<std::string>& values) {
  open(key);
  text_ += "[\n";
  for (const std::string& value : values) text_ += fmt::format("    {},\n", value);
  text_ += "]\n";
}

}  // namespace axle::documents
