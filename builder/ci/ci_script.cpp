#include "builder/ci/ci_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foundation/system/shell_command.h"

namespace axle::builder {

namespace {

constexpr std::string_view build_lines = R"(mkdir -p "$VARIANT_DIST"
rm -f "$VARIANT_DIST"/*.whl
"$VARIANT" build "$VARIANT_PROJECT" --variant "$VARIANT_LABEL" --arch "$VARIANT_ARCH" --out "$VARIANT_DIST"
)";

// A library without its interpreter: the loader of its own C library resolves every symbol at once
// (ld.so(8), LD_WARN, LD_BIND_NOW) and names those that are missing, but those of Python.
constexpr std::string_view smoke_lines = R"(scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
import_code='import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]'
import_installed() {
  for module in $VARIANT_IMPORTS; do set -- "$@" "$module"; done
  [ -n "$VARIANT_IMPORTS" ] || echo "smoke test: installed; no module to import is named"
  [ -z "$VARIANT_IMPORTS" ] || "$@"
}
load_libraries() {
  echo "smoke test: no Python for $VARIANT_ARCH is named: libraries are loaded, not imported"
  find "$scratch/site" -name '*.so*' -type f >"$scratch/libraries"
  for loader in "$VARIANT_ROOT"/lib/ld-linux-*.so.* "$VARIANT_ROOT"/lib64/ld-linux-*.so.*; do
    [ -e "$loader" ] && break
  done
  while IFS= read -r library; do
    if ! "qemu-$VARIANT_ARCH" -L "$VARIANT_ROOT" -E LD_TRACE_LOADED_OBJECTS=1 -E LD_WARN=yes -E LD_BIND_NOW=yes \
      "$loader" "$library" >"$scratch/loaded" 2>&1 ||
      grep -E '=> not found|undefined symbol|not defined' "$scratch/loaded" | grep -vE 'symbol: _?Py' >&2; then
      cat "$scratch/loaded" >&2
      echo "smoke test: $library cannot be loaded" >&2
      exit 1
    fi
  done <"$scratch/libraries"
}
for wheel in "$VARIANT_DIST"/*.whl; do
  case $VARIANT_SMOKE in
    none) echo "smoke test: none is wanted" ;;
    emulated)
      "$VARIANT" install --no-deps --target "$scratch/site" --for="$VARIANT_MACHINE" "$wheel"
      if [ -n "$VARIANT_PYTHON" ]; then
        import_installed "qemu-$VARIANT_ARCH" -L "$VARIANT_ROOT" -E PYTHONPATH="$scratch/site" "$VARIANT_PYTHON" \
          -c "$import_code"
      else
        load_libraries
      fi
      ;;
    *)
      "$VARIANT" venv "$scratch/venv"
      code=0
      "$VARIANT" install --python "$scratch/venv" "$wheel" || code=$?
      if [ "$code" -eq 3 ] && [ "$VARIANT_SMOKE" != required ]; then
        echo "smoke test: skipped, this machine is of another class than $VARIANT_JOB is for"
      else
        [ "$code" -eq 0 ] || exit "$code"
        import_installed "$scratch/venv/bin/python" -I -c "$import_code"
      fi
      ;;
  esac
done
)";

constexpr std::string_view audit_lines = R"("$VARIANT" audit "$VARIANT_DIST"
)";

}  // namespace

Variables common_variables(const CiPlan& plan) {
  return {{"VARIANT_PROJECT", plan.project},
          {"VARIANT_NAME", plan.name},
          {"VARIANT_IMPORTS", fmt::format("{}", fmt::join(plan.imports, " "))}};
}

Variables job_variables(const CiJob& job) {
  return {{"VARIANT_JOB", job.name},
          {"VARIANT_LABEL", job.label},
          {"VARIANT_ARCH", job.architecture},
          {"VARIANT_ROW", job.row},
          {"VARIANT_TOOLS", job.tools},
          {"VARIANT_SMOKE", job.settings.smoke},
          {"VARIANT_MACHINE", job.settings.machine},
          {"VARIANT_ROOT", job.settings.root},
          {"VARIANT_PYTHON", job.settings.python}};
}

std::string key_script(const CiPlan& plan) {
  std::string files;
  for (const std::string& file : plan.lock_files) files += " " + shell_word(file);
  // What cannot be read must not look like a file that has not changed.
  const std::string check = files.empty()
                                ? ""
                                : fmt::format(
                                      "for file in{}; do\n  [ -r \"$file\" ] || {{ echo \"$file "
                                      "cannot be read\" >&2; exit 1; }}\ndone\n",
                                      files);
  const std::string contents = files.empty() ? "" : fmt::format("  sha256sum --{}\n", files);
  return fmt::format(R"({}key=$({{
  "$VARIANT" --version
  for tool in $VARIANT_TOOLS; do
    if command -v "$tool" >/dev/null; then "$tool" --version; else echo "no $tool"; fi
  done
{}}} | sha256sum | cut -c 1-16)
)",
                     check, contents);
}

std::string_view build_script() { return build_lines; }
std::string_view smoke_script() { return smoke_lines; }
std::string_view audit_script() { return audit_lines; }

std::string publish_script(const CiPlan& plan) {
  std::string script = fmt::format(R"(set -- "$VARIANT_DIST"/*.whl
if [ ! -e "$1" ] || [ "$#" -ne {0} ]; then
  echo "$VARIANT_DIST: {0} wheels are expected: $*" >&2
  exit 1
fi
"$VARIANT" audit "$VARIANT_DIST"
)",
                                   plan.count);
  if (plan.target == CiTarget::uploads) {
    script +=
        fmt::format("\"$VARIANT\" publish \"$VARIANT_DIST\" --skip-existing --repository-url={}\n",
                    shell_word(plan.repository_url));
  } else if (plan.target != CiTarget::nothing) {
    script += fmt::format("\"$VARIANT\" index build \"$VARIANT_DIST\" --out={}\n",
                          shell_word(plan.index));
  } else {
    script += "echo \"$VARIANT_DIST: complete; [tool.axle.ci] names no index to publish to\"\n";
  }
  return script;
}

std::string indented(std::string_view script, std::string_view indent) {
  std::string out;
  while (!script.empty()) {
    const std::size_t end = script.find('\n');
    const std::string_view line = script.substr(0, end);
    if (!line.empty()) out += indent;
    out += line;
    out += '\n';
    if (end == std::string_view::npos) break;
    script.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace axle::builder
