#include "wheel/record.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/quote.h"
#include "foundation/text/utf8.h"

namespace axle::wheel {
namespace {

/// Reads CSV rows as Python's csv module writes them; a quote may only enclose a whole field, since
/// readers differ about the rest.
class CsvRows {
 public:
  CsvRows(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  [[nodiscard]] bool done() const { return at_ == text_.size(); }
  /// The line on which the row that `next` read last began, counted from one.
  [[nodiscard]] std::size_t line() const { return row_line_; }

  /// Goes on after the line on which the row that `next` refused began.
  void skip_line() {
    at_ = std::min(text_.find_first_of("\r\n", row_at_), text_.size());
    line_ = row_line_;
    end_line();
  }

  /// The next row; a blank line is a row without fields. The fields are valid until the next one.
  Result<std::span<const std::string_view>> next() {
    row_line_ = line_;
    row_at_ = at_;
    fields_.clear();
    unescaped_.clear();
    if (end_line()) return fields_;
    while (true) {
      if (text_.substr(at_).starts_with('"')) {
        if (auto read = read_quoted_field(); !read) return std::unexpected(std::move(read).error());
      } else {
        read_plain_field();
      }
      if (done() || end_line()) return fields_;
      if (text_[at_] != ',') {
        return fail(ErrorKind::malformed,
                    fmt::format("{}: line {}: text after a closing quote", where_, row_line_));
      }
      ++at_;
    }
  }

 private:
  bool end_line() {
    if (done() || (text_[at_] != '\n' && text_[at_] != '\r')) return false;
    at_ += text_.substr(at_).starts_with("\r\n") ? 2 : 1;
    ++line_;
    return true;
  }

  void read_plain_field() {
    const auto ends = [](char c) { return c == ',' || c == '\n' || c == '\r'; };
    const auto end =
        std::find_if(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.end(), ends);
    const auto length = static_cast<std::size_t>(end - text_.begin()) - at_;
    fields_.push_back(text_.substr(at_, length));
    at_ += length;
  }

  Result<void> read_quoted_field() {
    const std::size_t begin = ++at_;
    bool has_quotes = false;
    while (true) {
      const std::size_t end = text_.find('"', at_);
      if (end == std::string_view::npos) {
        return fail(ErrorKind::malformed,
                    fmt::format("{}: line {}: an unclosed quote", where_, row_line_));
      }
      at_ = end + 1;
      if (!text_.substr(at_).starts_with('"')) break;
      has_quotes = true;
      ++at_;
    }
    std::string_view field = text_.substr(begin, at_ - 1 - begin);
    line_ += static_cast<std::size_t>(std::ranges::count(field, '\n'));
    if (has_quotes) field = unescape(field);
    fields_.push_back(field);
    return {};
  }

  /// Two quotes stand for one.
  std::string_view unescape(std::string_view field) {
    std::string& text = unescaped_.emplace_back();
    for (std::size_t i = 0; i < field.size(); ++i) {
      text += field[i];
      if (field[i] == '"') ++i;
    }
    return text;
  }

  std::string_view text_;
  std::string_view where_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t row_line_ = 1;
  std::size_t row_at_ = 0;
  // Of the row; vectors grow once, and most rows need no text of their own.
  std::vector<std::string_view> fields_;
  std::deque<std::string> unescaped_;
};

constexpr auto base64_digits = [] {
  std::array<bool, 256> digits{};
  for (unsigned char c = 0; c < 128; ++c) {
    digits[c] = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                c == '-' || c == '_';
  }
  return digits;
}();

bool is_base64_digit(char c) { return base64_digits[static_cast<unsigned char>(c)]; }

/// Fills the hash of `row`; returns what is wrong with `text`, or nothing.
std::string read_hash(std::string_view text, RecordRow& row) {
  if (text.empty()) return {};
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return "a hash without an algorithm";
  const std::string_view algorithm = text.substr(0, equals);
  const std::string_view digest = text.substr(equals + 1);
  if (algorithm == "sha384" || algorithm == "sha512") {
    row.stronger_hash = text;
    return {};
  }
  if (algorithm != "sha256") {
    return fmt::format("the hash algorithm {}, but sha256 or better is required",
                       text::quote(algorithm));
  }
  if (digest.size() != 43 || !std::ranges::all_of(digest, is_base64_digit)) {
    return "a sha256 hash that is not 43 digits of urlsafe base64";
  }
  row.sha256 = digest;
  return {};
}

std::string read_size(std::string_view text, RecordRow& row) {
  if (text.empty()) return {};
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fmt::format("the size {} is not a number", text::quote(text));
  }
  row.size = size;
  return {};
}

/// What is wrong with the row, or nothing.
std::string read_row(std::span<const std::string_view> fields, RecordRow& row) {
  if (fields.size() != 3) return fmt::format("{} fields instead of 3", fields.size());
  if (fields[0].empty()) return "an empty path";
  if (fields[0].find('\0') != std::string_view::npos) return "a path with a NUL byte";
  if (std::string problem = read_hash(fields[1], row); !problem.empty()) return problem;
  if (std::string problem = read_size(fields[2], row); !problem.empty()) return problem;
  row.path = fields[0];
  return {};
}

bool needs_quotes(char c) { return c == '"' || c == ',' || c == '\r' || c == '\n'; }

void append_field(std::string& text, std::string_view field) {
  if (std::ranges::none_of(field, needs_quotes)) {
    text += field;
    return;
  }
  text += '"';
  for (const char c : field) {
    if (c == '"') text += '"';
    text += c;
  }
  text += '"';
}

/// The last field, and the end of the line.
void append_size(std::string& text, std::optional<std::uint64_t> size) {
  text += ',';
  if (size) {
    std::array<char, 24> digits;
    text.append(digits.data(),
                std::to_chars(digits.data(), digits.data() + digits.size(), *size).ptr);
  }
  text += '\n';
}

}  // namespace

RecordEntry entry_of(const RecordRow& row) {
  return {std::string(row.path), std::string(row.sha256), row.size, std::string(row.stronger_hash)};
}

Result<void> for_each_record_row(std::string_view text, std::string_view where,
                                 const std::function<void(const RecordRow&)>& take) {
  if (!text::is_valid_utf8(text)) {
    return fail(ErrorKind::malformed, fmt::format("{}: not UTF-8 text", where));
  }
  CsvRows rows(text, where);
  while (!rows.done()) {
    auto fields = rows.next();
    if (!fields) return std::unexpected(std::move(fields).error());
    if (fields->empty()) continue;
    RecordRow row;
    if (const std::string problem = read_row(*fields, row); !problem.empty()) {
      return fail(ErrorKind::malformed,
                  fmt::format("{}: line {}: {}", where, rows.line(), problem));
    }
    take(row);
  }
  return {};
}

Result<std::vector<RecordEntry>> parse_record(std::string_view text, std::string_view where) {
  std::vector<RecordEntry> entries;
  constexpr std::size_t usual_row = 64;  // bytes, at least
  entries.reserve(text.size() / usual_row);
  auto read = for_each_record_row(text, where,
                                  [&](const RecordRow& row) { entries.push_back(entry_of(row)); });
  if (!read) return std::unexpected(std::move(read).error());
  return entries;
}

std::vector<RecordEntry> salvage_record(std::string_view text) {
  std::vector<RecordEntry> entries;
  CsvRows rows(text, {});
  while (!rows.done()) {
    auto fields = rows.next();
    if (!fields) {
      rows.skip_line();
      continue;
    }
    if (fields->empty() || fields->front().empty()) continue;
    RecordRow row;
    if (!read_row(*fields, row).empty()) row = {fields->front(), {}, {}, {}};
    entries.push_back(entry_of(row));
  }
  return entries;
}

void append_record_line(std::string& text, std::string_view path, std::string_view sha256,
                        std::optional<std::uint64_t> size) {
  append_field(text, path);
  text += ',';
  if (!sha256.empty()) text.append("sha256=").append(sha256);
  append_size(text, size);
}

std::string render_record(const std::vector<RecordEntry>& entries) {
  std::string text;
  for (const RecordEntry& entry : entries) {
    if (entry.stronger_hash.empty()) {
      append_record_line(text, entry.path, entry.sha256, entry.size);
      continue;
    }
    append_field(text, entry.path);
    text += ',';
    append_field(text, entry.stronger_hash);
    append_size(text, entry.size);
  }
  return text;
}

}  // namespace axle::wheel
