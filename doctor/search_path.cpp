#include "doctor/search_path.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include <fmt/core.h>
#include <unistd.h>

#include "foundation/system/program_run.h"
#include "installer/file_access.h"
#include "session/variables.h"

namespace axle::doctor {

namespace {

namespace fs = std::filesystem;
using installer::Environment;
using By = SearchFolder::By;

constexpr std::uint64_t largest_pth_file = 64U << 10;  // bytes
constexpr std::uint64_t largest_configuration = 64U << 10;
constexpr std::chrono::seconds answer_limit{10};
constexpr std::size_t flag_fields = 5;  // the last two are counts

// Only modules that are built in: others might be those of a folder in PYTHONPATH.
constexpr const char* path_question = R"python(
import sys, _imp
standard = [name for name in getattr(sys, "stdlib_module_names", ())
            if name not in sys.builtin_module_names and not _imp.is_frozen(name)]
fields = [str(int(bool(sys.flags.no_user_site))), str(int(hasattr(sys.flags, "safe_path"))),
          str(int(bool(getattr(sys.flags, "safe_path", False)))), str(len(sys.path)),
          str(len(_imp.extension_suffixes()))]
text = "\0".join(fields + sys.path + _imp.extension_suffixes() + sorted(standard))
sys.stdout.buffer.write(text.encode(sys.getfilesystemencoding(), "surrogateescape"))
)python";

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::size_t count_in(const std::string& field) {
  std::size_t count = 0;
  std::from_chars(field.data(), field.data() + field.size(), count);
  return count;
}

Result<std::vector<std::string>> ask_for_path(const Environment& environment) {
  // It would wait for input, and read a file of the user's, after the answer.
  const system::Program program{.arguments = {environment.python, "-S", "-c", path_question},
                                .withheld = {"PYTHONINSPECT"}};
  const auto output = system::run_program(program, {.time_limit = answer_limit});
  if (!output)
    return std::unexpected(
        installer::system_error("start", environment.python, output.error().value()));
  std::vector<std::string> fields = split_at(output->out, '\0');
  if (output->exit_code == 0 && fields.size() > flag_fields) {
    const std::size_t folders = count_in(fields[flag_fields - 2]);
    const std::size_t suffixes = count_in(fields[flag_fields - 1]);
    if (folders > 0 && folders <= fields.size() && suffixes <= fields.size() &&
        fields.size() >= flag_fields + folders + suffixes)
      return fields;
  }
  std::string_view last = output->err;
  while (last.ends_with('\n')) last.remove_suffix(1);
  last = last.substr(last.rfind('\n') + 1);
  return fail(ErrorKind::malformed, fmt::format("{} exits with status {}: {}", environment.python,
                                                output->exit_code, last.substr(0, 300)));
}

/// Collects what is not there yet, as site.known_paths does.
class FolderList {
 public:
  explicit FolderList(std::vector<SearchFolder>& folders) : folders_(folders) {}

  void add(By by, const std::string& path, const std::string& file = {}, unsigned line = 0) {
    std::string plain = plain_path(path);
    const auto [known, fresh] = known_.try_emplace(plain, folders_.size());
    if (fresh) {
      folders_.push_back({by, std::move(plain), file, line});
    } else {
      folders_[known->second].again.push_back({by, file, line, folders_.size()});
    }
  }

 private:
  std::vector<SearchFolder>& folders_;
  std::map<std::string, std::size_t> known_;
};

/// One line: a comment, a program, or a path below `site`.
void add_line(const std::string& site, const std::string& file, std::string_view line,
              unsigned number, FolderList& list, SearchPath& path) {
  if (line.starts_with("import ") || line.starts_with("import\t")) {
    // The folder may be read twice, as `site` does: purelib and platlib are one.
    const PathProgram program{file, number};
    if (line.contains("sys.path") &&
        std::ranges::find(path.programs, program) == path.programs.end())
      path.programs.push_back(program);
    return;
  }
  while (!line.empty() && std::string_view(" \t\r\f\v").contains(line.back()))
    line.remove_suffix(1);
  if (line.empty() || line.starts_with('#') || line.contains('\0')) return;
  const std::string folder = (fs::path(site) / line).string();
  std::error_code error;
  if (fs::exists(folder, error)) list.add(By::pth, folder, file, number);
}

/// As site.addsitedir.
void add_site(By by, const std::string& site, FolderList& list, SearchPath& path) {
  std::error_code error;
  if (!fs::is_directory(site, error)) return;
  list.add(by, site);
  std::vector<std::string> files;
  for (fs::directory_iterator at(site, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (name.ends_with(".pth") && !name.starts_with('.')) files.push_back(std::move(name));
  }
  std::ranges::sort(files);
  for (const std::string& name : files) {
    const std::string file = site + "/" + name;
    const auto text = installer::read_file(file, largest_pth_file);
    if (!text) continue;
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    std::string_view content = *text;
    if (content.starts_with(byte_order_mark)) content.remove_prefix(byte_order_mark.size());
    unsigned number = 0;
    for (const std::string& line : split_at(content, '\n'))
      add_line(site, file, line, ++number, list, path);
  }
}

std::string_view stripped(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

/// A virtual environment that does not see its base has no user site either.
bool sees_user_site(const Environment& environment) {
  if (::geteuid() != ::getuid() || ::getegid() != ::getgid()) return false;
  if (!environment.virtual_env) return true;
  const auto text = installer::read_file(environment.prefix + "/pyvenv.cfg", largest_configuration);
  if (!text) return false;
  bool sees = true;
  for (const std::string& line : split_at(*text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string_view key = stripped(std::string_view(line).substr(0, equals));
    std::string value(stripped(std::string_view(line).substr(equals + 1)));
    std::ranges::transform(value, value.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (key == "include-system-site-packages") sees = value == "true";
  }
  return sees;
}

/// site.getusersitepackages(); empty: unknown.
std::string user_site(const Environment& environment) {
  std::string base = session::variable("PYTHONUSERBASE");
  if (base.empty()) base = session::home_expanded("~/.local");
  base = session::home_expanded(base);
  return base.starts_with('/') ? base + environment.user_scheme.purelib : std::string();
}

/// In the order of site.main().
void add_sites(const Environment& environment, bool no_user_site, FolderList& list,
               SearchPath& path) {
  const std::string user =
      no_user_site || !sees_user_site(environment) ? std::string() : user_site(environment);
  const auto add_own = [&] {
    add_site(By::site, environment.purelib, list, path);
    add_site(By::site, environment.platlib, list, path);
  };
  if (environment.virtual_env) add_own();
  if (!user.empty()) add_site(By::user_site, user, list, path);
  if (!environment.virtual_env) add_own();
  for (const std::string& outer : environment.outer_sites) add_site(By::site, outer, list, path);
}

/// Puts the folders into the order that the started interpreter has them in. One that nothing
/// explains, or that comes before what its line or variable puts before it, is there by a program.
class StartedOrder {
 public:
  StartedOrder(const StartedSearch& started, const std::vector<SearchFolder>& explained)
      : explained_(explained) {
    std::map<std::string, std::size_t> known;
    for (std::size_t i = 0; i < explained.size(); ++i) known.emplace(explained[i].path, i);
    std::set<std::string> seen;
    std::set<std::string> sites;
    for (const std::string& site : started.sites) sites.insert(plain_path(site));
    for (const std::string& item : started.path) {
      std::string path = plain_path(item);
      if (!seen.insert(path).second) continue;
      std::error_code error;
      if (const auto at = known.find(path); at != known.end()) {
        folders_.push_back(explained[at->second]);
        places_.push_back(at->second);
      } else if (fs::exists(path, error)) {
        const By by = sites.contains(path) ? By::site : By::program;
        folders_.push_back({by, std::move(path), {}, 0});
        places_.push_back(unexplained);
      }
    }
  }

  [[nodiscard]] std::vector<SearchFolder> folders() && {
    for (std::size_t i = 0; i < folders_.size(); ++i) {
      SearchFolder& folder = folders_[i];
      for (SearchFolder::Again& again : folder.again) again.place = place_before(again.place);
      if (!is_brought_forward(i)) continue;
      folder.again.push_back({folder.by, folder.file, folder.line, place_before(places_[i] + 1)});
      folder.by = By::program;
      folder.file.clear();
      folder.line = 0;
    }
    return std::move(folders_);
  }

 private:
  static constexpr std::size_t unexplained = static_cast<std::size_t>(-1);

  [[nodiscard]] bool is_brought_forward(std::size_t i) const {
    const By by = folders_[i].by;
    if (places_[i] == unexplained || by == By::site || by == By::standard_library) return false;
    return std::any_of(places_.begin() + static_cast<std::ptrdiff_t>(i), places_.end(),
                       [&](std::size_t place) { return place < places_[i]; });
  }

  /// Of the first folder that is explained from `place` on.
  [[nodiscard]] std::size_t place_before(std::size_t place) const {
    for (; place < explained_.size(); ++place) {
      const auto at = std::ranges::find(places_, place);
      if (at != places_.end()) return static_cast<std::size_t>(at - places_.begin());
    }
    return places_.size();
  }

  const std::vector<SearchFolder>& explained_;
  std::vector<SearchFolder> folders_;
  std::vector<std::size_t> places_;  ///< of the folders in `explained_`
};

}  // namespace

std::string real_path(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real.string();
}

std::string plain_path(const std::string& path) {
  std::error_code error;
  std::string plain = fs::absolute(path.empty() ? "." : path, error).lexically_normal().string();
  while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  return plain;
}

Result<SearchPath> read_search_path(const Environment& environment, const StartedSearch& started) {
  const auto answer = ask_for_path(environment);
  if (!answer) return std::unexpected(answer.error());
  const std::vector<std::string>& fields = *answer;
  SearchPath path;
  const bool no_user_site = fields[0] == "1";
  path.may_leave_out_current_folder = fields[1] == "1";
  const bool has_current = fields[2] != "1";
  if (const std::string items = session::variable("PYTHONPATH"); !items.empty())
    path.python_path = split_at(items, ':');
  const std::size_t count = count_in(fields[flag_fields - 2]);
  const auto folders = std::span(fields).subspan(flag_fields, count);
  const auto rest = std::span(fields).subspan(flag_fields + count);
  const std::size_t suffixes = count_in(fields[flag_fields - 1]);
  path.suffixes.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(suffixes));
  path.standard_modules.assign(rest.begin() + static_cast<std::ptrdiff_t>(suffixes), rest.end());
  std::set<std::string> of_variable;
  for (const std::string& item : path.python_path) of_variable.insert(plain_path(item));
  FolderList list(path.folders);
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const bool current = i == 0 && has_current;
    const bool listed = of_variable.contains(plain_path(folders[i]));
    list.add(current  ? By::current_folder
             : listed ? By::python_path
                      : By::standard_library,
             folders[i]);
  }
  add_sites(environment, no_user_site, list, path);
  if (!started.path.empty()) path.folders = StartedOrder(started, path.folders).folders();
  return path;
}

}  // namespace axle::doctor
