// A conda environment: its Python from conda, the packages of the class through pip, and as a
// comment the virtual packages that a machine of the class has.
#include <string>

#include <fmt/format.h>

#include "session/projects/exports/class_export.h"
#include "session/projects/exports/conditions.h"

namespace axle::session {
namespace {

/// YAML's strings in double quotes escape as JSON's do; a requirement has nothing to escape but
/// quotes and backslashes.
std::string quoted_line(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string virtual_packages(const ClassExport& one) {
  std::string text;
  const auto add = [&](std::string_view package) { text += fmt::format("#   {}\n", package); };
  for (const resolver::Atom& atom : one.holds.atoms) {
    if (const auto cuda = least_cuda(atom)) add(fmt::format("__cuda >={}", *cuda));
    if (const auto glibc = least_glibc(atom)) add(fmt::format("__glibc >={}", *glibc));
    if (const auto level = least_level(atom); level && *level > 1)
      add(fmt::format("__archspec =1=x86_64_v{}, or what is above it", *level));
    if (is_equal(atom, "system", "linux")) add("__linux");
    if (is_equal(atom, "system", "windows")) add("__win");
    if (is_equal(atom, "system", "darwin")) add("__osx");
    if (const auto macos = least_macos(atom)) add(fmt::format("__osx >={}", *macos));
  }
  return text;
}

}  // namespace

Result<std::string> render_conda(const ClassExport& one, Report& report) {
  if (auto plain = refuse_labels(one, "conda"); !plain) return std::unexpected(plain.error());
  std::string text = comment_lines(describe_class(one));
  if (const std::string needs = virtual_packages(one); !needs.empty())
    text += "# `conda info` must list these virtual packages:\n" + needs;
  text +=
      fmt::format("name: {}\nchannels:\n  - conda-forge\ndependencies:\n  - python{}\n  - pip\n",
                  quoted_line(one.about.name),
                  one.about.python_releases.empty()
                      ? "=" + one.about.python
                      : fmt::format(" {}.*,{}", one.about.python, one.about.python_releases));
  const RequirementLines requirements = requirement_lines(one);
  if (requirements.lines.empty() && requirements.without.empty()) return text;
  text += "  - pip:\n";
  if (const std::string index = main_index(one); !index.empty())
    text += fmt::format("      - {}\n", quoted_line("--index-url " + index));
  // One without a hash makes hashes impossible for all: pip asks for all or none.
  const bool hashed = requirements.without.empty();
  if (!hashed)
    report.warn(fmt::format("class {}: {} has no hash, so none is compared when conda installs it",
                            one.about.name, requirements.without.front()));
  for (const std::string& line : requirements.lines)
    text += fmt::format("      - {}\n",
                        quoted_line(hashed ? line : line.substr(0, line.find(" --hash="))));
  for (const std::string& line : requirements.without)
    text += fmt::format("      - {}\n", quoted_line(line));
  return text;
}

}  // namespace axle::session
