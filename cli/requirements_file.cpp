#include "cli/requirements_file.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include <fmt/core.h>

#include "cli/input_file.h"
#include "cli/variables.h"
#include "wheel/ascii.h"

namespace axle::cli {

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

/// ${NAME} with a name in capitals; one that is not set stays as it is, as pip has it.
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

struct OptionSpelling {
  std::string_view spelling;
  Opt id;
};

constexpr OptionSpelling spellings[] = {{"--requirement", Opt::requirement},
                                        {"-r", Opt::requirement},
                                        {"--constraint", Opt::constraint},
                                        {"-c", Opt::constraint},
                                        {"--index-url", Opt::index_url},
                                        {"-i", Opt::index_url},
                                        {"--extra-index-url", Opt::extra_index_url},
                                        {"--find-links", Opt::find_links},
                                        {"-f", Opt::find_links},
                                        {"--no-index", Opt::no_index},
                                        {"--pre", Opt::pre}};

/// The option that `line` starts with, and the rest of the line in `value`.
const OptionSpelling* match_option(const std::string& line, std::string& value) {
  for (const OptionSpelling& candidate : spellings) {
    if (!line.starts_with(candidate.spelling)) continue;
    const std::string rest = line.substr(candidate.spelling.size());
    const bool is_short = candidate.spelling.size() == 2;
    if (!rest.empty() && rest[0] != ' ' && rest[0] != '\t' && rest[0] != '=' && !is_short) continue;
    value = wheel::trim_ascii(rest);
    if (value.starts_with("=")) value = wheel::trim_ascii(value.substr(1));
    return &candidate;
  }
  return nullptr;
}

/// What a line says: without its comment and outer white space, variables put in.
std::string meaning(const std::string& line) {
  return std::string(wheel::trim_ascii(expanded(without_comment(line))));
}

class Reader {
 public:
  explicit Reader(RequirementsFile& into) : into_(into) {}

  Result<void> read(const fs::path& path, bool as_constraints) {
    std::error_code error;
    fs::path place = fs::weakly_canonical(path, error);
    if (error) place = path;
    if (!seen_.insert({place.string(), as_constraints}).second) return {};
    if (seen_.size() > most_files) {
      return fail(ErrorKind::malformed,
                  fmt::format("{}: more than {} requirements files name each other", path.string(),
                              most_files));
    }
    auto text = read_input(path.string());
    if (!text) {
      if (text.error().kind == ErrorKind::not_found) {
        text.error().message = fmt::format("{}: no such requirements file", path.string());
      } else {
        text.error().message.insert(0, "the requirements file ");
      }
      return std::unexpected(std::move(text.error()));
    }
    std::istringstream file(std::move(*text));
    std::string joined;
    unsigned number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (!line.empty() && line.back() == '\\') {
        joined += line.substr(0, line.size() - 1);
        continue;
      }
      joined += line;
      Result<void> taken = take(meaning(joined), path, number, as_constraints);
      if (!taken) return taken;
      joined.clear();
    }
    return take(meaning(joined), path, number, as_constraints);
  }

 private:
  Result<void> take(const std::string& line, const fs::path& path, unsigned number,
                    bool as_constraints) {
    if (line.empty()) return {};
    const std::string where = fmt::format("{}:{}", path.string(), number);
    // For the system a NUL ends a name: what is opened would not be what is written.
    if (line.find('\0') != std::string::npos)
      return fail(ErrorKind::malformed, fmt::format("{}: there is a NUL in the line", where),
                  "a requirements file is a text file with one requirement a line");
    if (line[0] == '-') return take_option(line, path, where);
    if (line.find(" --") != std::string::npos) {
      return fail(ErrorKind::malformed,
                  fmt::format("{}: `{}` has options, which Axle does not read", where, line),
                  "hashes are not checked by Axle: use `pip install --require-hashes -r " +
                      path.string() + "`");
    }
    std::string text = line;
    // A wheel's path counts from the file's folder; [extras] and a marker may follow it.
    const bool wheel = text.find(".whl") != std::string::npos &&
                       text.find(" @ ") == std::string::npos &&
                       text.find("://") == std::string::npos;
    if (wheel && text[0] != '/') text = (path.parent_path() / text).string();
    (as_constraints ? into_.constraints : into_.requirements).push_back(std::move(text));
    return {};
  }

  Result<void> take_option(const std::string& line, const fs::path& path,
                           const std::string& where) {
    // Wheels are all that Axle takes: these change nothing.
    if (line.starts_with("--prefer-binary") || line.starts_with("--only-binary")) return {};
    std::string value;
    const OptionSpelling* option = match_option(line, value);
    if (option == nullptr) {
      const bool editable = line.starts_with("-e") || line.starts_with("--editable");
      return fail(ErrorKind::malformed,
                  fmt::format("{}: `{}` is not an option that Axle knows", where, line),
                  editable ? "editable installs are pip's: `pip install " + line + "`" : "");
    }
    switch (option->id) {
      case Opt::requirement:
      case Opt::constraint: {
        const Result<void> nested = read(path.parent_path() / value, option->id == Opt::constraint);
        if (!nested) return std::unexpected(within(where, nested.error()));
        return {};
      }
      case Opt::no_index:
      case Opt::pre:
        into_.options.add(option->id, "");
        return {};
      default:
        if (value.empty())
          return fail(ErrorKind::malformed, fmt::format("{}: `{}` needs a value", where, line));
        into_.options.add(option->id, value);
        return {};
    }
  }

  RequirementsFile& into_;
  std::set<std::pair<std::string, bool>> seen_;
};

}  // namespace

Result<void> read_requirements_file(const std::string& path, bool as_constraints,
                                    RequirementsFile& into) {
  return Reader(into).read(path, as_constraints);
}

}  // namespace axle::cli
