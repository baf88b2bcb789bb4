#include "builder/ci/ci_settings.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "builder/ci/quoting.h"
#include "foundation/text/nearest.h"
#include "index/http/credentials.h"
#include "index/http/url.h"
#include "index/storage/dav_access.h"
#include "index/storage/storage_address.h"

namespace axle::builder {

namespace {

using documents::TomlTable;

std::string read_line(TomlTable& table, std::string_view key) {
  auto text = table.text(key);
  if (text && !is_plain_line(*text))
    table.refuse(key, "must be one line, not empty, of printable text");
  return text.value_or("");
}

/// A path or name that a program gets as an argument.
std::string read_argument(TomlTable& table, std::string_view key) {
  std::string text = read_line(table, key);
  if (text.starts_with('-')) {
    table.refuse(key, fmt::format("\"{}\" would be an option, not a name", text),
                 "write ./ before a path");
  }
  return text;
}

std::vector<std::string> read_lines(TomlTable& table, std::string_view key) {
  std::vector<std::string> lines = table.texts(key);
  if (!std::ranges::all_of(lines, is_plain_line))
    table.refuse(key, "each must be one line, not empty, of printable text");
  return lines;
}

std::string read_one_of(TomlTable& table, std::string_view key,
                        const std::vector<std::string>& known) {
  std::string word = read_line(table, key);
  if (!word.empty() && std::ranges::find(known, word) == known.end()) {
    table.refuse(key, fmt::format("\"{}\" is not valid", word),
                 text::suggest(word, known, text::joined_by_or(known) + " are"));
  }
  return word;
}

bool is_option(std::string_view name) {
  return !name.empty() && name.front() != '-' && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

// What the script says itself: without it, it would not find its tasks, logs and results.
constexpr std::string_view reserved_options[] = {
    "array",  "chdir",    "dependency", "error",
    "export", "input",    "job-name",   "open-mode",
    "output", "parsable", "requeue",    "no-requeue",
    "wait",   "wrap",     "test-only",  "kill-on-invalid-dep"};

Definitions read_slurm(TomlTable& parent) {
  Definitions options;
  auto table = parent.table("slurm");
  if (!table) return options;
  for (const auto& [key, node] : table->node()) {
    const std::string name(key.str());
    if (!is_option(name)) table->refuse(name, "is not a valid name of an option of sbatch");
    if (std::ranges::find(reserved_options, name) != std::end(reserved_options))
      table->refuse(name, "is set by the script that is written");
    std::string value;
    if (const auto* text = node.as_string()) {
      value = text->get();
      if (!is_plain_line(value))
        table->refuse(name, "must be one line, not empty, of printable text");
    } else if (const auto* number = node.as_integer()) {
      value = std::to_string(number->get());
    } else if (node.is_boolean() && node.value_or(false)) {
      value.clear();  // an option without a value
    } else {
      table->refuse(name, "expected a string, a number or true");
    }
    options.emplace_back(name, std::move(value));
  }
  return options;
}

JobSettings read_job_settings(TomlTable& table) {
  static const std::vector<std::string> architectures = {"x86_64", "aarch64"};
  static const std::vector<std::string> tests = {"native", "required", "emulated", "none"};
  JobSettings settings;
  settings.runs_on = read_lines(table, "runs-on");
  settings.tags = read_lines(table, "tags");
  settings.image = read_line(table, "image");
  settings.host = read_one_of(table, "host", architectures);
  if (table.find("setup") != nullptr) settings.setup = read_lines(table, "setup");
  settings.smoke = read_one_of(table, "smoke-test", tests);
  settings.machine = read_argument(table, "machine");
  settings.python = read_argument(table, "python");
  settings.root = read_argument(table, "root");
  settings.slurm = read_slurm(table);
  return settings;
}

bool is_module(std::string_view name) {
  bool begins = true;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    const bool belongs = c == '.' ? !begins : letter || (digit && !begins);
    if (!belongs) return false;
    begins = c == '.';
  }
  return !begins;
}

void read_imports(TomlTable& table, CiSettings& settings) {
  if (table.find("imports") == nullptr) return;
  settings.imports = table.texts("imports");
  for (const std::string& name : *settings.imports) {
    if (!is_module(name))
      table.refuse("imports", fmt::format("\"{}\" is not a name of a Python module", name));
  }
}

void read_lock_files(TomlTable& table, CiSettings& settings) {
  settings.lock_files = read_lines(table, "lock-files");
  if (const toml::node* node = table.node().get("lock-files"))
    settings.lock_files_place = table.reading().place(*node);
  for (const std::string& file : settings.lock_files) {
    const bool leaves = file.starts_with('/') || file == ".." || file.starts_with("../") ||
                        file.contains("/../") || file.ends_with("/..");
    if (leaves) {
      table.refuse("lock-files", fmt::format("\"{}\" is not inside the project", file),
                   "name it relative to pyproject.toml");
    }
  }
}

constexpr std::string_view logins =
    "leave the login out; docs/ci.md says from where publishing takes it";

bool has_login(std::string_view address) { return !index::url_credential(address).empty(); }

/// What is wrong here would be told after everything was built.
void check_index(TomlTable& table, const std::string& address) {
  if (index::is_stored_elsewhere(address) && has_login(address))
    return table.refuse("index", "the address has a login, and everybody reads a CI file",
                        std::string(logins));
  std::optional<Error> wrong;
  if (index::is_storage_address(address)) {
    if (auto parsed = index::parse_storage_address(address); !parsed) wrong = parsed.error();
  } else if (index::is_http_url(address)) {
    if (auto parsed = index::parse_dav_address(address, {}); !parsed) wrong = parsed.error();
  } else if (address.contains("://")) {
    wrong = Error{ErrorKind::malformed, fmt::format("\"{}\" is not a place for an index", address),
                  "a folder, s3://BUCKET/PREFIX and https://HOST/FOLDER are"};
  }
  if (wrong) table.refuse("index", wrong->message, wrong->hint);
}

void check_repository(TomlTable& table, const std::string& address) {
  constexpr std::string_view key = "repository-url";
  const index::UrlParts parts = index::split_url(address);
  if (!index::is_http_url(address) || parts.authority.empty() || parts.has_fragment)
    return table.refuse(key, "is not an address that takes uploads",
                        "write it as https://HOST/PATH");
  if (has_login(address))
    return table.refuse(key, "the address has a login, and everybody reads a CI file",
                        std::string(logins));
  if (!index::may_get_login(address, {}))
    table.refuse(key, "is not encrypted: everybody on the way could read the login", "use https");
}

}  // namespace

CiSettings read_ci_settings(documents::TomlTable& axle) {
  CiSettings settings;
  auto table = axle.table("ci");
  if (!table) return settings;
  read_imports(*table, settings);
  read_lock_files(*table, settings);
  settings.index = read_argument(*table, "index");
  settings.repository_url = read_argument(*table, "repository-url");
  if (!settings.index.empty() && !settings.repository_url.empty()) {
    table->refuse("repository-url", "wheels are published to this or to index, not to both",
                  "leave one of the two out");
  }
  if (!settings.index.empty()) check_index(*table, settings.index);
  if (!settings.repository_url.empty()) check_repository(*table, settings.repository_url);
  settings.of_all = read_job_settings(*table);
  for (TomlTable& one : table->tables("jobs")) {
    JobRule rule;
    rule.labels = read_lines(one, "labels");
    rule.architecture = read_one_of(one, "architecture", {"x86_64", "aarch64"});
    rule.settings = read_job_settings(one);
    rule.place = one.reading().place(one.node());
    one.finish();
    settings.rules.push_back(std::move(rule));
  }
  table->finish();
  return settings;
}

JobSettings overlaid(JobSettings below, const JobSettings& above) {
  const auto replace = [](auto& old, const auto& stated) {
    if (!stated.empty()) old = stated;
  };
  replace(below.runs_on, above.runs_on);
  replace(below.tags, above.tags);
  replace(below.image, above.image);
  replace(below.host, above.host);
  if (above.setup) below.setup = above.setup;
  replace(below.smoke, above.smoke);
  replace(below.machine, above.machine);
  replace(below.python, above.python);
  replace(below.root, above.root);
  for (const auto& [name, value] : above.slurm) {
    std::erase_if(below.slurm, [&](const auto& one) { return one.first == name; });
    below.slurm.emplace_back(name, value);
  }
  return below;
}

}  // namespace axle::builder
