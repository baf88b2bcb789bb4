#include "session/requests/line_options.h"

#include <fmt/core.h>

#include "foundation/text/ascii.h"
#include "index/http/redaction.h"

namespace axle::session {

namespace {

/// All options that pip 26.3 accepts in a file.
constexpr OptionSpelling spellings[] = {
    {"--requirement", FileOption::nested, true, Opt::requirement},
    {"-r", FileOption::nested, true, Opt::requirement},
    {"--constraint", FileOption::nested, true, Opt::constraint},
    {"-c", FileOption::nested, true, Opt::constraint},
    {"--index-url", FileOption::value, true, Opt::index_url},
    {"--pypi-url", FileOption::value, true, Opt::index_url},
    {"-i", FileOption::value, true, Opt::index_url},
    {"--extra-index-url", FileOption::value, true, Opt::extra_index_url},
    {"--find-links", FileOption::value, true, Opt::find_links},
    {"-f", FileOption::value, true, Opt::find_links},
    {"--no-index", FileOption::flag, false, Opt::no_index},
    {"--pre", FileOption::flag, false, Opt::pre},
    {"--require-hashes", FileOption::flag, false, Opt::require_hashes},
    {"--no-binary", FileOption::value, true, Opt::no_binary},
    {"--only-binary", FileOption::value, true, Opt::only_binary},
    {"--trusted-host", FileOption::value, true, Opt::trusted_host},
    {"--prefer-binary", FileOption::ignored, false},
    {"--use-feature", FileOption::ignored, true},
    {"--editable", FileOption::editable, true},
    {"-e", FileOption::editable, true},
    {"--config-settings", FileOption::build, true},
    {"--config-setting", FileOption::build, true},
    {"-C", FileOption::build, true},
    {"--global-option", FileOption::build, true}};

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Where the next option begins: at a "-" after white space, outside of quotes.
std::size_t end_of_value(std::string_view text) {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '-' && i > 0 && is_blank(text[i - 1])) {
      return i;
    }
  }
  return text.size();
}

/// And the backslashes before blanks. False: a quote is not closed.
bool remove_quotes(std::string& value) {
  std::string plain;
  char quote = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (quote == 0 && c == '\\' && i + 1 < value.size() && is_blank(value[i + 1])) continue;
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      plain += c;
    }
  }
  value = std::move(plain);
  return quote == 0;
}

/// Takes one option with its value from the front of `rest`. `problem`: for the error.
bool take_option(std::string_view& rest, LineOption& option, std::string_view& problem) {
  option.spelling = find_option(rest);
  if (option.spelling == nullptr) {
    problem = "is not an option of requirements files";
    return false;
  }
  rest.remove_prefix(option.spelling->spelling.size());
  const std::size_t end = end_of_value(rest);
  option.value = text::trim_ascii(rest.substr(0, end));
  rest.remove_prefix(end);
  const bool is_assigned = option.value.starts_with('=');
  if (is_assigned) option.value = text::trim_ascii(std::string_view(option.value).substr(1));
  // A marker after a folder has quotes of its own.
  const bool has_marker =
      option.spelling->kind == FileOption::editable && option.value.contains(';');
  if (!has_marker && !remove_quotes(option.value)) {
    problem = "has a quote that is not closed";
  } else if (option.spelling->takes_value && option.value.empty()) {
    problem = "needs a value";
  } else if (!option.spelling->takes_value && (is_assigned || !option.value.empty())) {
    problem = "takes no value";
  }
  return problem.empty();
}

}  // namespace

const OptionSpelling* find_option(std::string_view word) {
  for (const OptionSpelling& candidate : spellings) {
    if (!word.starts_with(candidate.spelling)) continue;
    const std::string_view rest = word.substr(candidate.spelling.size());
    const bool is_short = candidate.spelling.size() == 2;
    if (rest.empty() || is_blank(rest[0]) || rest[0] == '=' || is_short) return &candidate;
  }
  return nullptr;
}

Result<std::vector<LineOption>> read_line_options(std::string_view line, std::string_view where) {
  std::vector<LineOption> options;
  for (std::string_view rest = line; !rest.empty();) {
    LineOption option;
    std::string_view problem;
    const std::string_view begin = rest;
    if (!take_option(rest, option, problem)) {
      const std::size_t taken = begin.size() - rest.size();
      const std::string_view shown = begin.substr(0, taken == 0 ? begin.size() : taken);
      return fail(
          ErrorKind::malformed,
          fmt::format("{}: `{}` {}", where, index::redact_url(text::trim_ascii(shown)), problem));
    }
    options.push_back(std::move(option));
  }
  return options;
}

}  // namespace axle::session
