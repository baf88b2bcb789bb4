// Hashed requirements, as `pip install --require-hashes -r` and `uv pip install -r` take them.
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "session/projects/exports/class_export.h"
#include "session/projects/exports/conditions.h"

namespace axle::session {
Result<std::string> render_requirements(const ClassExport& one, Report& report) {
  if (auto plain = refuse_labels(one, "requirements"); !plain)
    return std::unexpected(plain.error());
  const RequirementLines requirements = requirement_lines(one);
  std::string text = comment_lines(describe_class(one));
  if (const std::string index = main_index(one); !index.empty())
    text += fmt::format("--index-url {}\n", index);
  for (std::string line : requirements.lines) {
    line.replace(line.find(" --hash="), 1, " \\\n    ");
    text += line + "\n";
  }
  if (requirements.without.empty()) return text;
  text += "# These have no hash, which pip then asks of all; install them with --no-deps:\n";
  for (const std::string& line : requirements.without) text += fmt::format("#   {}\n", line);
  report.warn(fmt::format("class {}: {} has no hash and is only named in a comment", one.about.name,
                          fmt::join(requirements.without, ", ")),
              "install it afterwards with --no-deps");
  return text;
}

}  // namespace axle::session
