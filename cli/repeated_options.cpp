#include "cli/repeated_options.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "cli/command.h"
#include "foundation/system/shell_command.h"
#include "index/http/redaction.h"
#include "session/settings/exclude_newer.h"

namespace axle::cli {

namespace {

/// One option, and its equivalents in pip and uv; "": they have none, or it does not apply to the
/// commands that are proposed. One that ends with "=" is one word with its value.
struct RepeatedRow {
  session::Opt id;
  std::string_view pip = {};
  std::string_view uv = {};
};

/// In the order in which they are repeated.
constexpr std::array repeated_rows = {
    RepeatedRow{session::Opt::python, "--python", "--python"},
    RepeatedRow{session::Opt::system, "--python", "--system"},
    // pip builds for its own interpreter.
    RepeatedRow{session::Opt::python_version, "", "--python-version"},
    RepeatedRow{session::Opt::implementation},
    RepeatedRow{session::Opt::abi},
    RepeatedRow{session::Opt::platform},
    RepeatedRow{session::Opt::python_platform, "", "--python-platform"},
    RepeatedRow{session::Opt::break_system_packages, "", "--break-system-packages"},
    RepeatedRow{session::Opt::require_virtualenv},
    RepeatedRow{session::Opt::target, "--target", "--target"},
    RepeatedRow{session::Opt::prefix, "--prefix", "--prefix"},
    RepeatedRow{session::Opt::root, "--root", ""},
    RepeatedRow{session::Opt::user, "--user", ""},
    RepeatedRow{session::Opt::no_user},
    RepeatedRow{session::Opt::for_machine},
    RepeatedRow{session::Opt::gpu_policy},
    RepeatedRow{session::Opt::supported},
    RepeatedRow{session::Opt::default_index, "--index-url", "--default-index"},
    RepeatedRow{session::Opt::index_url, "--index-url", "--index-url"},
    RepeatedRow{session::Opt::extra_index_url, "--extra-index-url", "--extra-index-url"},
    RepeatedRow{session::Opt::index, "--extra-index-url", "--index"},
    RepeatedRow{session::Opt::find_links, "--find-links", "--find-links"},
    RepeatedRow{session::Opt::no_index, "--no-index", "--no-index"},
    RepeatedRow{session::Opt::bundle},
    RepeatedRow{session::Opt::index_strategy, "", "--index-strategy"},
    RepeatedRow{session::Opt::keyring_provider, "--keyring-provider", "--keyring-provider"},
    RepeatedRow{session::Opt::trusted_host, "--trusted-host", "--allow-insecure-host"},
    RepeatedRow{session::Opt::cert, "--cert", ""},
    RepeatedRow{session::Opt::client_cert, "--client-cert", ""},
    RepeatedRow{session::Opt::proxy, "--proxy", ""},
    RepeatedRow{session::Opt::no_proxy_env, "--no-proxy-env", ""},
    RepeatedRow{session::Opt::timeout, "--timeout", ""},
    RepeatedRow{session::Opt::retries, "--retries", ""},
    RepeatedRow{session::Opt::config_file, "", "--config-file"},
    RepeatedRow{session::Opt::no_config, "", "--no-config"},
    RepeatedRow{session::Opt::family},
    RepeatedRow{session::Opt::offline, "", "--offline"},
    RepeatedRow{session::Opt::no_cache},
    RepeatedRow{session::Opt::cache_dir},
    RepeatedRow{session::Opt::requirement},
    RepeatedRow{session::Opt::group},
    RepeatedRow{session::Opt::extra},
    RepeatedRow{session::Opt::all_extras},
    RepeatedRow{session::Opt::editable},
    RepeatedRow{session::Opt::no_editable},
    RepeatedRow{session::Opt::no_editable_package},
    RepeatedRow{session::Opt::constraint, "--constraint", "--constraint"},
    RepeatedRow{session::Opt::overrides, "", "--overrides"},
    // Dropping these would allow what the user excluded; building cannot honour the next two.
    RepeatedRow{session::Opt::require_hashes, "--require-hashes", "--require-hashes"},
    RepeatedRow{session::Opt::no_binary},
    RepeatedRow{session::Opt::only_binary},
    RepeatedRow{session::Opt::build_from_source},
    RepeatedRow{session::Opt::build_from_source_of},
    RepeatedRow{session::Opt::no_build},
    RepeatedRow{session::Opt::build_constraint},
    RepeatedRow{session::Opt::no_build_isolation},
    RepeatedRow{session::Opt::config_settings},
    RepeatedRow{session::Opt::no_require_hashes, "--no-require-hashes", ""},
    RepeatedRow{session::Opt::no_sources, "", "--no-sources"},
    RepeatedRow{session::Opt::no_sources_package, "", "--no-sources-package"},
    RepeatedRow{session::Opt::no_verify_hashes, "", "--no-verify-hashes"},
    RepeatedRow{session::Opt::attestations},
    RepeatedRow{session::Opt::trusted_root},
    RepeatedRow{session::Opt::allowed_signers},
    RepeatedRow{session::Opt::exclude_newer, "--uploaded-prior-to", "--exclude-newer"},
    RepeatedRow{session::Opt::uploaded_prior_to, "--uploaded-prior-to", "--exclude-newer"},
    RepeatedRow{session::Opt::exclude_newer_package, "", "--exclude-newer-package"},
    RepeatedRow{session::Opt::pre, "--pre", "--prerelease=allow"},
    RepeatedRow{session::Opt::prerelease, "", "--prerelease"},
    RepeatedRow{session::Opt::alternatives},
    RepeatedRow{session::Opt::no_deps, "--no-deps", "--no-deps"},
    RepeatedRow{session::Opt::variant},
    RepeatedRow{session::Opt::no_variants},
    RepeatedRow{session::Opt::no_variants_of},
    RepeatedRow{session::Opt::torch_backend},
    RepeatedRow{session::Opt::allow_backend_change},
    RepeatedRow{session::Opt::require},
    RepeatedRow{session::Opt::trust},
    RepeatedRow{session::Opt::enable_provider},
    RepeatedRow{session::Opt::disable_provider},
    RepeatedRow{session::Opt::link_mode, "", "--link-mode"},
    RepeatedRow{session::Opt::compile_bytecode, "--compile", "--compile-bytecode"},
    RepeatedRow{session::Opt::no_compile, "--no-compile", "--no-compile-bytecode"},
    RepeatedRow{session::Opt::overwrite},
};

enum class Tool : std::uint8_t { other, variant, pip, uv };

/// The words as written, including quotes. Inside single quotes a space is a part of a word.
std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '\\' && !quoted) {
      ++i;
    } else if (i < line.size() && line[i] == '\'') {
      quoted = !quoted;
    } else if (i >= line.size() || (line[i] == ' ' && !quoted)) {
      const std::size_t end = std::min(i, line.size());
      if (end > begin) words.push_back(line.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return words;
}

std::string_view first_name(std::string_view names) { return names.substr(0, names.find(',')); }

/// Inputs that can only be read once, which the run has already done.
bool is_passing(std::string_view value) {
  return value == "-" || value.starts_with("/dev/fd/") || value.starts_with("/proc/self/fd/") ||
         value == "/dev/stdin";
}

/// "NAME=URL" without the name, which pip does not support.
std::string without_name(const std::string& place) {
  const std::size_t equals = place.find('=');
  const bool named = equals != std::string::npos && place.find_first_of(":/.") > equals;
  return named ? place.substr(equals + 1) : place;
}

/// For pip, which only accepts a path: the interpreter's path on PATH.
std::string pip_python(const std::string& name) {
  std::error_code error;
  const bool path = name.contains('/') || std::filesystem::is_directory(name, error);
  if (path) return shell_word(name);
  const bool version = !name.empty() && name[0] >= '0' && name[0] <= '9';
  return "\"$(command -v " + shell_word(version ? "python" + name : name) + ")\"";
}

class Completion {
 public:
  Completion(std::string_view command, const session::RunOptions& run)
      : run_(run), text_(command), words_(split_words(command)) {
    if (words_.size() < 2 || has_word("--help")) return;
    if (words_[0] == "variant") {
      take_variant();
    } else if (words_[0] == "pip") {
      tool_ = Tool::pip;
    } else if (words_[0] == "uv" && words_[1] == "pip" && words_.size() > 2) {
      tool_ = Tool::uv;
    }
  }

  CompleteCommand complete() && {
    if (tool_ == Tool::other) return {std::move(text_)};
    const std::vector<std::string> files = run_.command_line.values(session::Opt::requirement);
    names_files_ = tool_ == Tool::variant && is_for_command(session::Opt::requirement) &&
                   !files.empty() && std::ranges::none_of(files, is_passing);
    for (const RepeatedRow& row : repeated_rows) repeat(row);
    if (lacks_folder()) text_ += " --dry-run";
    return {std::move(text_), lacks_secret_};
  }

 private:
  /// An installation for another interpreter or platform, without the folder that it needs.
  [[nodiscard]] bool lacks_folder() const {
    if (tool_ != Tool::variant || command_->name != "install") return false;
    if (run_.command_line.has(session::Opt::target) || has_word("--dry-run")) return false;
    constexpr std::array stated = {session::Opt::python_version, session::Opt::implementation,
                                   session::Opt::abi, session::Opt::platform,
                                   session::Opt::python_platform};
    return std::ranges::any_of(stated, [&](session::Opt id) { return run_.command_line.has(id); });
  }

  void take_variant() {
    for (const Command& command : commands()) {
      const auto name = split_words(command.name);
      if (words_.size() > name.size() &&
          std::ranges::equal(name, std::span(words_).subspan(1, name.size())))
        command_ = &command;
    }
    if (command_ != nullptr) tool_ = Tool::variant;
  }

  [[nodiscard]] bool has_word(std::string_view option) const {
    return std::ranges::any_of(words_, [&](std::string_view word) {
      return word == option || (word.starts_with(option) && word.size() > option.size() &&
                                word[option.size()] == '=');
    });
  }

  [[nodiscard]] bool has_own(std::string_view names) const {
    while (!names.empty()) {
      const std::string_view name = first_name(names);
      if (has_word(name)) return true;
      names.remove_prefix(std::min(names.size(), name.size() + 1));
    }
    return false;
  }

  [[nodiscard]] bool takes(session::Opt id) const {
    return std::ranges::find(command_->options, id) != command_->options.end();
  }

  /// Whether `command_` should have the option, whatever its values.
  [[nodiscard]] bool is_for_command(session::Opt id) const {
    const std::string_view verb = command_->name;
    switch (id) {
      case session::Opt::for_machine:
      case session::Opt::gpu_policy:
      case session::Opt::supported:
        // A machine is recorded where it is. A list of GPUs is proposed if the policy names a
        // missing one, so it gets no policy.
        if (has_word("--profile") || has_word("--for")) return false;
        if (id == session::Opt::for_machine) return takes(session::Opt::gpu_policy);
        return takes(id) && verb != "detect";
      case session::Opt::family:
        return takes(id) && verb != "index families";  // lists what --family can name
      case session::Opt::requirement:
      case session::Opt::editable:
      case session::Opt::group:
      case session::Opt::extra:
      case session::Opt::all_extras:
        // Only for named packages: explain takes one package, --no-deps is about single ones, and
        // to uninstall one is not to uninstall the file's.
        return takes(id) && run_.files && verb != "explain" && verb != "uninstall" &&
               !has_word("--no-deps");
      case session::Opt::python:
      case session::Opt::system:
        // A new environment takes the place of the one that is wrong.
        return takes(id) && verb != "venv" && !has_word("--python") && !has_word("--system");
      default:
        return takes(id);
    }
  }

  [[nodiscard]] std::string_view name_of(const RepeatedRow& row) const {
    const bool of_file = row.id == session::Opt::constraint || row.id == session::Opt::overrides;
    if (of_file && !run_.files) return {};
    if (tool_ == Tool::pip) return row.pip;
    if (tool_ == Tool::uv) return words_[2] == "install" || is_for_compiling(row.id) ? row.uv : "";
    if (!is_for_command(row.id)) return {};
    if (row.id == session::Opt::no_variants_of) return "--no-variants=";
    if (row.id == session::Opt::build_from_source_of) return "--build=";
    return first_name(session::option_row(row.id).names);
  }

  /// Whether `uv pip compile` has the option as well.
  static bool is_for_compiling(session::Opt id) {
    return id != session::Opt::break_system_packages && id != session::Opt::require_hashes &&
           id != session::Opt::no_verify_hashes;
  }

  /// The values that apply in the run.
  [[nodiscard]] std::vector<std::string> values_of(const RepeatedRow& row) const {
    const session::OptionRow& option = session::option_row(row.id);
    if (row.id == session::Opt::for_machine && !run_.machine.empty()) return {run_.machine};
    std::vector<std::string> values = run_.command_line.values(row.id);
    if (run_.files && !names_files_ &&
        (values.empty() || option.kind == session::OptionKind::list)) {
      const std::vector<std::string> more = run_.files->values(row.id);
      values.insert(values.end(), more.begin(), more.end());
    }
    std::erase_if(values, is_passing);
    // The command that names another variant of the package does so instead.
    if (row.id == session::Opt::variant) {
      std::erase_if(values, [&](const std::string& value) {
        const std::string package = value.substr(0, value.find('=') + 1);
        return std::ranges::any_of(
            words_, [&](std::string_view word) { return word.starts_with(package); });
      });
    }
    if (option.kind != session::OptionKind::list && !values.empty()) values = {values.back()};
    return values;
  }

  void repeat(const RepeatedRow& row) {
    const std::string_view name = name_of(row);
    if (name.empty() || row.id == session::Opt::only_binary) return;
    if (row.id == session::Opt::no_binary) return repeat_formats();
    const session::OptionRow& option = session::option_row(row.id);
    const bool own = tool_ == Tool::variant ? has_own(option.names) : has_word(name);
    if (own && option.kind != session::OptionKind::list) return;
    // The first of these applies, and pip has one option for both.
    if (row.id == session::Opt::system && run_.command_line.has(session::Opt::python)) return;
    if (row.id == session::Opt::index_url && run_.command_line.has(session::Opt::default_index))
      return;
    const std::vector<std::string> values = values_of(row);
    for (const std::string& value : values) {
      if (option.kind != session::OptionKind::flag) {
        add_value(row, name, value);
      } else if (tool_ == Tool::pip && row.id == session::Opt::system) {
        add_pip_python("python3");
      } else {
        text_ += " " + std::string(name);
      }
    }
  }

  /// Both lists in the order given, in which the later one applies.
  void repeat_formats() {
    const auto add = [&](const session::Arguments& given) {
      for (const auto& [id, value] :
           given.in_order({session::Opt::no_binary, session::Opt::only_binary}))
        text_ += " " + session::option_name(id) + " " + shell_word(value);
    };
    add(run_.command_line);
    if (run_.files && !names_files_) add(*run_.files);
  }

  /// Before the verb, or pip rejects it.
  void add_pip_python(const std::string& python) {
    if (has_word("--python")) return;
    text_.insert(words_[0].size(), " --python " + pip_python(python));
  }

  void add_value(const RepeatedRow& row, std::string_view name, const std::string& value) {
    if (tool_ == Tool::pip && row.id == session::Opt::python) return add_pip_python(value);
    const bool name_is_known = tool_ != Tool::pip;
    const bool index = row.id == session::Opt::index || row.id == session::Opt::default_index;
    // In uv a date means the end of its day.
    const bool date_of_pip = row.id == session::Opt::uploaded_prior_to && tool_ == Tool::uv;
    const std::string said = index && !name_is_known ? without_name(value)
                             : date_of_pip           ? session::pip_cutoff(value)
                                                     : value;
    const std::string shown = index::redact_url(said);
    lacks_secret_ = lacks_secret_ || shown != said;
    const bool joined = name.ends_with('=') || shown.starts_with('-');
    text_ += " " + std::string(name);
    if (joined && !name.ends_with('=')) text_ += '=';
    text_ += (joined ? "" : " ") + shell_word(shown);
  }

  const session::RunOptions& run_;
  std::string text_;
  std::vector<std::string_view> words_;  ///< of the caller's text
  Tool tool_ = Tool::other;
  const Command* command_ = nullptr;  ///< of `variant`
  bool names_files_ = false;          ///< the requirements files, whose options then count
  bool lacks_secret_ = false;
};

bool begins_command(std::string_view text) {
  return text.starts_with("variant ") || text.starts_with("pip ") || text.starts_with("uv ");
}

/// The end of the command that starts `text`: a backtick outside of quotes.
std::size_t end_of_command(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && !quoted)
      ++i;
    else if (text[i] == '\'')
      quoted = !quoted;
    else if (text[i] == '`' && !quoted)
      return i;
  }
  return std::string_view::npos;
}

}  // namespace

bool is_repeated(session::Opt id) {
  return std::ranges::find(repeated_rows, id, &RepeatedRow::id) != repeated_rows.end();
}

CompleteCommand complete_command(std::string_view command, const session::RunOptions& run) {
  return Completion(command, run).complete();
}

std::string complete_hint(std::string_view hint, const session::RunOptions& run) {
  std::string out;
  bool lacks_secret = false;
  while (!hint.empty()) {
    const std::size_t tick = std::min(hint.find('`'), hint.size());
    out += hint.substr(0, tick);
    hint.remove_prefix(tick);
    if (hint.empty()) break;
    const std::string_view rest = hint.substr(1);
    const std::size_t end = begins_command(rest) ? end_of_command(rest) : rest.find('`');
    if (end == std::string_view::npos) break;
    const CompleteCommand command = complete_command(rest.substr(0, end), run);
    out += "`" + command.text + "`";
    lacks_secret = lacks_secret || command.lacks_secret;
    hint.remove_prefix(end + 2);
  }
  out += hint;
  if (lacks_secret)
    out += "; the login or token in a URL is not repeated: add it, or store it in a netrc file";
  return out;
}

}  // namespace axle::cli
