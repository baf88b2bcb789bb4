#include "session/requests/requirements_file.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/core.h>

#include "foundation/system/shell_command.h"
#include "foundation/text/ascii.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "session/input_file.h"
#include "session/requests/line_options.h"
#include "session/requests/text_lines.h"
#include "session/variables.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 100;

/// A comment starts the line or follows white space.
std::string without_comment(const std::string& line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t'))
      return line.substr(0, i);
  }
  return line;
}

/// ${NAME} with a name in capitals; an unset one is left unchanged, as in pip.
std::string expanded(const std::string& line) {
  std::string out;
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t close = line.compare(i, 2, "${") == 0 ? line.find('}', i) : std::string::npos;
    if (close != std::string::npos) {
      const std::string name = line.substr(i + 2, close - i - 2);
      const bool valid = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
      });
      const std::string value = valid ? variable(name) : std::string();
      if (!value.empty()) {
        out += value;
        i = close + 1;
        continue;
      }
    }
    out += line[i++];
  }
  return out;
}

std::unexpected<Error> needs_building(const std::string& where, std::string_view option) {
  return fail(
      ErrorKind::malformed,
      fmt::format(
          "{}: `{}` is for building one package, and Axle builds all with the same settings", where,
          option),
      "use --config-settings on the command line, or build the wheel with pip and name its file "
      "here");
}

/// Words separated by white space, and the text before the first one that is an option.
struct SplitLine {
  std::string requirement;
  std::vector<std::string> options;
};

SplitLine split_options(const std::string& line) {
  SplitLine split;
  std::size_t at = 0;
  std::size_t end_of_requirement = line.size();
  while (at < line.size()) {
    const std::size_t begin = line.find_first_not_of(" \t", at);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    if (begin > 0 && line[begin] == '-') end_of_requirement = std::min(end_of_requirement, begin);
    if (end_of_requirement < line.size()) split.options.push_back(line.substr(begin, end - begin));
    at = end;
  }
  split.requirement = text::trim_ascii(line.substr(0, end_of_requirement));
  return split;
}

/// The content of a line: without its comment and outer white space, variables expanded.
std::string meaning(const std::string& line) {
  return std::string(text::trim_ascii(expanded(without_comment(line))));
}

bool is_url(std::string_view place) { return place.contains("://"); }

/// A server's file would learn the values of variables: in a URL that it names they come back to
/// it.
Result<void> check_variables(const std::string& line, const std::string& where) {
  if (expanded(line) == line) return {};
  return fail(ErrorKind::malformed,
              fmt::format("{}: the server's file asks for the value of a variable", where),
              "download it, check it, and name the file");
}

bool is_protected(const std::string& url) { return index::url_origin(url).starts_with("https:"); }

/// Where a line is from.
struct FilePlace {
  fs::path path;    ///< empty: of a server
  std::string url;  ///< empty: of this machine

  [[nodiscard]] std::string shown() const {
    return url.empty() ? path.string() : index::redact_url(url);
  }
  /// A server names no files of this machine, and one with https none without it.
  [[nodiscard]] bool may_name(const std::string& place) const {
    if (url.empty()) return true;
    return index::is_http_url(place) && (!is_protected(url) || is_protected(place));
  }
  /// What a nested -r or -c names.
  [[nodiscard]] std::string beside(const std::string& value) const {
    if (!url.empty()) return index::resolve_url(url, value);
    return is_url(value) ? value : (path.parent_path() / value).string();
  }
};

class Reader {
 public:
  Reader(const RemoteText& remote, RequirementsFile& into) : remote_(remote), into_(into) {}

  Result<void> read(const std::string& place, bool as_constraints) {
    if (index::is_http_url(place)) return read_remote(place, as_constraints);
    if (!is_url(place)) return read_file(place, as_constraints);
    if (place.starts_with("file:")) {
      const auto path = index::file_path(place);
      if (!path) return std::unexpected(path.error());
      return read_file(*path, as_constraints);
    }
    return fail(ErrorKind::malformed,
                fmt::format("{}: requirements files are read from disk, or by http or https",
                            index::redact_url(place)),
                "download it, check it, and name the file");
  }

 private:
  /// False: it was read before.
  Result<bool> is_new(const std::string& place, bool as_constraints, const std::string& shown) {
    if (!seen_.insert({place, as_constraints}).second) return false;
    if (seen_.size() <= most_files) return true;
    return fail(ErrorKind::malformed,
                fmt::format("{}: more than {} nested requirements files", shown, most_files));
  }

  static Result<void> check_name(const std::string& name, const std::string& shown) {
    if (name != "pyproject.toml") return {};
    return fail(
        ErrorKind::malformed,
        fmt::format("{} describes a project; it is not a requirements file", shown),
        fmt::format("convert it: `uv pip compile {} -o requirements.txt`", shell_word(shown)));
  }

  Result<void> read_remote(const std::string& url, bool as_constraints) {
    const FilePlace place{{}, std::string(index::without_fragment(url))};
    const auto fresh = is_new(place.url, as_constraints, place.shown());
    if (!fresh) return std::unexpected(fresh.error());
    if (!*fresh) return {};
    into_.read.places.push_back(url);
    if (auto named = check_name(index::url_file_name(url), place.shown()); !named) return named;
    auto text = remote_(place.url);
    if (!text) {
      text.error().message.insert(0, "the requirements file ");
      return std::unexpected(std::move(text).error());
    }
    return read_text(std::move(*text), place, as_constraints);
  }

  Result<void> read_file(const fs::path& path, bool as_constraints) {
    std::error_code error;
    fs::path canonical = fs::weakly_canonical(path, error);
    if (error) canonical = path;
    const auto fresh = is_new(canonical.string(), as_constraints, path.string());
    if (!fresh) return std::unexpected(fresh.error());
    if (!*fresh) return {};
    into_.read.places.push_back(path.string());
    if (auto named = check_name(path.filename().string(), path.string()); !named) return named;
    auto text = read_input(path.string());
    if (!text) {
      if (text.error().kind == ErrorKind::not_found) {
        text.error().message = fmt::format("{}: no such requirements file", path.string());
      } else {
        text.error().message.insert(0, "the requirements file ");
      }
      return std::unexpected(std::move(text.error()));
    }
    return read_text(std::move(*text), {path, {}}, as_constraints);
  }

  Result<void> read_text(std::string text, const FilePlace& place, bool as_constraints) {
    const auto lines = text_lines(std::move(text));
    if (!lines) return std::unexpected(within(place.shown(), lines.error()));
    std::string joined;
    unsigned begin = 0;
    unsigned number = 0;
    for (const std::string& line : *lines) {
      ++number;
      if (begin == 0) begin = number;
      // A comment line ends a continued line, even if it ends in a backslash.
      const bool comment = text::trim_ascii(line).starts_with('#');
      if (!comment && line.ends_with('\\')) {
        joined += line.substr(0, line.size() - 1);
        continue;
      }
      joined += (comment ? " " : "") + line;
      Result<void> taken = take_joined(joined, place, begin, as_constraints);
      if (!taken) return taken;
      joined.clear();
      begin = 0;
    }
    return take_joined(joined, place, begin, as_constraints);
  }

  Result<void> take_joined(const std::string& line, const FilePlace& place, unsigned number,
                           bool as_constraints) {
    if (!place.url.empty()) {
      const std::string where = fmt::format("{}:{}", place.shown(), number);
      if (auto safe = check_variables(without_comment(line), where); !safe) return safe;
    }
    return take(meaning(line), place, number, as_constraints);
  }

  Result<void> take(const std::string& line, const FilePlace& place, unsigned number,
                    bool as_constraints) {
    if (line.empty()) return {};
    const std::string where = fmt::format("{}:{}", place.shown(), number);
    // The system ends a name at a NUL, so a different file would be opened.
    if (line.find('\0') != std::string::npos)
      return fail(ErrorKind::malformed, fmt::format("{}: the line contains a NUL", where),
                  "a requirements file is a text file with one requirement per line");
    if (line[0] == '-') return take_options(line, place, where, as_constraints);
    SplitLine split = split_options(line);
    FileRequirement requirement{space_before_marker(std::move(split.requirement)),
                                {},
                                where,
                                place.path.parent_path().string()};
    if (auto ok = take_hashes(split.options, where, requirement); !ok) return ok;
    (as_constraints ? into_.constraints : into_.requirements).push_back(std::move(requirement));
    return {};
  }

  /// The options after a requirement: any number of `--hash=…` or `--hash …`.
  static Result<void> take_hashes(const std::vector<std::string>& words, const std::string& where,
                                  FileRequirement& into) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::size_t equals = words[i].find('=');
      const std::string option = words[i].substr(0, equals);
      if (option != "--hash") {
        const OptionSpelling* known = find_option(option);
        if (known != nullptr && known->kind == FileOption::build)
          return needs_building(where, option);
        return fail(ErrorKind::malformed,
                    fmt::format("{}: `{}` is not allowed after a requirement", where, option),
                    "only --hash is allowed there; put other options on separate lines");
      }
      std::string value;
      if (equals != std::string::npos) {
        value = words[i].substr(equals + 1);
      } else if (i + 1 < words.size()) {
        value = words[++i];
      }
      if (value.size() > 1 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0])
        value = value.substr(1, value.size() - 2);
      auto hash = wheel::parse_listed_hash(value);
      if (!hash) return std::unexpected(within(where, std::move(hash).error()));
      into.hashes.push_back(std::move(*hash));
    }
    return {};
  }

  Result<void> take_editable(const std::string& value, const FilePlace& place,
                             const std::string& where, bool as_constraints) {
    if (!place.url.empty() || as_constraints) {
      return fail(ErrorKind::malformed,
                  fmt::format("{}: `-e {}` is not allowed in {}", where, index::redact_url(value),
                              as_constraints ? "constraints" : "a file of a server"),
                  "write it in a requirements file of your own");
    }
    into_.requirements.push_back({.text = space_before_marker(value),
                                  .origin = where,
                                  .folder = place.path.parent_path().string(),
                                  .editable = true});
    return {};
  }

  Result<void> take_options(const std::string& line, const FilePlace& place,
                            const std::string& where, bool as_constraints) {
    const auto options = read_line_options(line, where);
    if (!options) return std::unexpected(options.error());
    for (const LineOption& option : *options) {
      if (auto taken = take_option(option, place, where, as_constraints); !taken) return taken;
    }
    return {};
  }

  Result<void> take_option(const LineOption& option, const FilePlace& place,
                           const std::string& where, bool as_constraints) {
    const Opt id = option.spelling->id;
    switch (option.spelling->kind) {
      case FileOption::nested:
        return take_nested(option.value, id == Opt::constraint, place, where);
      case FileOption::flag:
        into_.read.options.add(id, "");
        return {};
      case FileOption::ignored:
        return {};
      case FileOption::build:
        return needs_building(where, option.spelling->spelling);
      case FileOption::editable:
        return take_editable(option.value, place, where, as_constraints);
      case FileOption::value:
        break;
    }
    std::string value = option.value;
    std::error_code ignored;
    // As in pip: next to the file, if it exists there.
    if (id == Opt::find_links && place.url.empty() &&
        fs::exists(place.path.parent_path() / value, ignored))
      value = (place.path.parent_path() / value).string();
    into_.read.options.add(id, value);
    return {};
  }

  Result<void> take_nested(const std::string& value, bool as_constraints, const FilePlace& place,
                           const std::string& where) {
    const std::string nested_place = place.beside(value);
    if (!place.may_name(nested_place)) {
      return fail(
          ErrorKind::malformed,
          fmt::format(
              "{}: the server's file names `{}`, which is {}", where, index::redact_url(value),
              index::is_http_url(nested_place) ? "not protected as it is" : "not on a server"),
          "download both, check them, and name the files");
    }
    const Result<void> nested = read(nested_place, as_constraints);
    if (!nested) return std::unexpected(within(where, nested.error()));
    return {};
  }

  const RemoteText& remote_;
  RequirementsFile& into_;
  std::set<std::pair<std::string, bool>> seen_;
};

}  // namespace

std::string space_before_marker(std::string text) {
  const std::size_t end = text.find("; ");
  if (end != std::string::npos && text.substr(0, end).contains('@')) text.insert(end, " ");
  return text;
}

Result<void> read_requirements_file(const std::string& path, bool as_constraints,
                                    const RemoteText& remote, RequirementsFile& into) {
  return Reader(remote, into).read(path, as_constraints);
}

}  // namespace axle::session
