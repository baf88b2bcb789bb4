// docs/settings.md is the setting table. AXLE_UPDATE_GOLDEN=1 rewrites it.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "session/settings/setting_table.h"
#include "session/settings/user_defaults.h"

namespace {

constexpr const char* preamble = R"(# Settings of pip and uv

Every option, variable and configuration key of pip 26.3 and uv 0.13.9, and what Axle does with it: honoured, refused with
exit 2 (a setting is never silently ignored), refused if anything may be built (`--build`), read by commands on projects alone, or irrelevant to what is chosen,
from where, and whether it is checked. The page is generated from `session/settings/setting_rows.h`; tests compare it with
pip's and uv's own lists and fail for a setting without a row.

An option of `pip install` is also a variable (`PIP_` and its name in capitals) and a key of pip.conf, in `[global]` and
`[install]` (for other commands: the section of pip's command with the same name). uv's keys are those of uv.toml and of
`[tool.uv]` in pyproject.toml; `pip.` stands for its table `[pip]`, which takes precedence.

The first of these that sets a value wins: options, `PIP_*`, `UV_*`, the project's `[tool.axle]` (`indexes`), uv.toml or `[tool.uv]`, Axle's own
file, pip's files, uv's files of the user and the system, and for the index finally the default of the interpreter's pip.
Lists are concatenated, with two exceptions: a `PIP_` variable replaces the value in pip's files, an option that of its `UV_` variable. All values of
`no-binary` and `only-binary` in pip's settings apply in order, as with pip: a later one (`[global]`, `[install]`, variables,
options, requirements files) overrides an earlier one, `:all:` of one clears the other, and `:none:` clears its own. In uv's
files a name takes precedence over `:all:` of the other setting; if both name a package, `no-binary` wins.

Files: pip's are the one in `PIP_CONFIG_FILE`, `pip.conf` of the target environment, `~/.config/pip/pip.conf` and
`~/.pip/pip.conf` (not together with `PIP_CONFIG_FILE`), `/etc/pip.conf` and `/etc/xdg/pip/pip.conf`. uv's are the project's,
found as uv does (from the root of the workspace upwards, the nearest uv.toml or pyproject.toml with `[tool.uv]`; if both are
in one folder, the uv.toml), `~/.config/uv/uv.toml`, and `/etc/xdg/uv/uv.toml` or `/etc/uv/uv.toml`; `UV_CONFIG_FILE` replaces
all of them. A file that is damaged, cannot be read, or has a value of the wrong type ends the command with exit 2 and a
message with file and line. uv itself only warns about a damaged pyproject.toml and then uses the default index; Axle does
not.

Axle's own file is `axle/config.toml` in `XDG_CONFIG_HOME` (else `~/.config`). Its table `[defaults]` has options by their long
names, for every command that has them; paths begin at the file, or at the home folder with `~/`:

```toml
[defaults]
index-url = "https://packages.example/simple"
find-links = ["wheels"]
link-mode = "copy"
compile-bytecode = true
verbose = true
```

An option that names the work of one command has no default. What has none, does not exist, is said twice or has a value
of the wrong type is refused at its line, and so is, by every command, a value that is wrong in itself, or a file of `cert`,
`client-cert`, `constraint`, `overrides` or `build-constraint` that cannot be read. `~` is expanded as pip does in its own
files (`cert`, `client-cert`, and `find-links` where the expanded path exists); uv does not expand it, so in uv's files it is a name.
The home folder of another user (`~name`) is not looked up.
The keys beside the table are those of [attestations](attestations.md#configuration) and of [bundles](bundle.md#signatures).
These may be in it:
)";

std::string code(std::string_view field, std::string_view before, std::string_view after = "") {
  std::string text;
  for (const std::string_view name : axle::session::names_in(field)) {
    text += (text.empty() ? "`" : ", `") + std::string(before) +
            std::string(name.substr(0, name.find(':'))) + std::string(after) + "`";
  }
  return text;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

std::string table(axle::session::Treatment treatment, std::string_view heading) {
  std::string text = "| pip | uv | " + std::string(heading) + " |\n|---|---|---|\n";
  for (const axle::session::SettingRow& row : axle::session::setting_rows()) {
    if (row.treatment != treatment) continue;
    std::string meaning(row.text);
    if (!row.harmless.empty()) meaning += " (`" + std::string(row.harmless) + "` is accepted)";
    text += "| " + code(row.pip, "--") + " | " +
            joined({code(row.uv, "--"), code(row.variables, ""), code(row.keys, "")}) + " | " +
            meaning + " |\n";
  }
  return text;
}

std::string page() {
  std::string defaults;
  for (const std::string& name : axle::session::names_of_defaults())
    defaults += (defaults.empty() ? "`" : ", `") + name + "`";
  return preamble + defaults + ".\n\n## Honoured\n\n" +
         table(axle::session::Treatment::honoured, "meaning") + "\n## Refused\n\n" +
         table(axle::session::Treatment::refused, "what to do") +
         "\n## Refused with `--build`\n\n" +
         table(axle::session::Treatment::refused_for_builds, "what it is") +
         "\n## Of projects\n\nOnly `variant init`, `add`, `remove`, `import`, `lock`, `outdated`, "
         "`sync`, `run`, `tree`, `export` and `verify`\nread these, beside those above; each "
         "honours those that stand for an option that it has, and an option counts more.\n\n" +
         table(axle::session::Treatment::of_projects, "meaning") + "\n## Irrelevant\n\n" +
         table(axle::session::Treatment::irrelevant, "why");
}

}  // namespace

TEST_CASE("docs/settings.md equals the setting table") {
  const std::string path = AXLE_SOURCE_DIR "/docs/settings.md";
  if (std::getenv("AXLE_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << page();
  std::ifstream file(path, std::ios::binary);
  const std::string committed(std::istreambuf_iterator<char>(file), {});
  CHECK_MESSAGE(committed == page(),
                "run AXLE_UPDATE_GOLDEN=1 build/release/bin/session_test and read the difference");
}

TEST_CASE("every name of pip and uv is in exactly one row, and every row has a reason") {
  std::vector<std::string> seen;
  for (const axle::session::SettingRow& row : axle::session::setting_rows()) {
    INFO(std::string(row.key));
    CHECK_FALSE(row.text.empty());
    for (const auto& [field, kind] :
         {std::pair{row.pip, "pip "}, std::pair{row.uv, "uv "}, std::pair{row.variables, ""}}) {
      for (const std::string_view name : axle::session::names_in(field))
        seen.push_back(kind + std::string(name));
    }
    for (const std::string_view name : axle::session::names_in(row.keys)) {
      CHECK(name.contains(':'));
      seen.push_back("key " + std::string(name.substr(0, name.find(':'))));
    }
  }
  std::ranges::sort(seen);
  const auto twice = std::ranges::adjacent_find(seen);
  CHECK_MESSAGE(twice == seen.end(), (twice == seen.end() ? "" : *twice));
}
