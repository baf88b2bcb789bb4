#include "session/kept_answers/answer_record.h"

#include <cstddef>

#include "installer/sealed_fields.h"

namespace axle::session {

namespace {

using installer::append_field;
using installer::next_field;

constexpr std::string_view record_header = "axle-answer ";
constexpr std::string_view record_version = "1";
constexpr std::string_view what_it_is = "kept answer";
constexpr std::string_view yes = "+";
constexpr std::string_view no = "-";

/// The next field into `value`; false at the end.
bool take(std::string_view& fields, std::string& value) {
  const auto field = next_field(fields);
  if (field) value = *field;
  return field.has_value();
}

}  // namespace

std::string render_answer_record(const AnswerRecord& record) {
  std::string text;
  append_field(text, std::string(record_header).append(record_version));
  append_field(text, record.key);
  append_field(text, record.facts);
  append_field(text, record.answer.text);
  append_field(text, record.answer.note);
  append_field(text, record.answer.folder);
  append_field(text, record.seen_twice ? yes : no);
  // With their length, since they hold fields themselves.
  installer::append_number(text, record.states.size());
  text += record.states;
  text += record.paths;
  installer::seal_fields(text, installer::Seal::crc32);
  return text;
}

std::optional<AnswerRecord> parse_answer_record(std::string_view text, std::string_view where) {
  const auto body = installer::open_sealed_fields(text, record_header, record_version, what_it_is,
                                                  where, installer::Seal::crc32);
  if (!body) return std::nullopt;
  std::string_view rest = *body;
  AnswerRecord record;
  if (!take(rest, record.key) || !take(rest, record.facts) || !take(rest, record.answer.text) ||
      !take(rest, record.answer.note) || !take(rest, record.answer.folder))
    return std::nullopt;
  const auto seen_twice = next_field(rest);
  std::size_t length = 0;
  if ((seen_twice != yes && seen_twice != no) || !installer::next_number(rest, length) ||
      length > rest.size())
    return std::nullopt;
  record.seen_twice = seen_twice == yes;
  record.states = rest.substr(0, length);
  record.paths = rest.substr(length);
  return record;
}

}  // namespace axle::session
