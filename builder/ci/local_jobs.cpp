#include "builder/ci/local_jobs.h"

#include <fmt/format.h>

#include "builder/ci/ci_script.h"
#include "foundation/system/shell_command.h"

namespace axle::builder {

namespace {

constexpr std::string_view out_folder_lines = R"(: "${OUT:=$VARIANT_PROJECT/dist/variants}"
case $OUT in /*) ;; *) OUT=$PWD/$OUT ;; esac
)";

std::string assigned(const Variables& variables) {
  std::string text;
  std::string names;
  for (const auto& [name, value] : variables) {
    text += fmt::format("{}={}\n", name, shell_word(value));
    names += " " + name;
  }
  return text + "export" + names + "\n";
}

}  // namespace

std::string_view local_folders() { return out_folder_lines; }
std::string local_variables(const CiPlan& plan) { return assigned(common_variables(plan)); }
std::string local_variables(const CiJob& job) { return assigned(job_variables(job)); }

std::string local_job_script(const CiPlan& plan) {
  // Each job has a cache of its own: jobs would wait for each other's lock.
  std::string text(out_folder_lines);
  text += key_script(plan);
  text += R"(VARIANT_DIST=$OUT/wheels/$VARIANT_NAME/$VARIANT_JOB
caches=$OUT/cache/$VARIANT_NAME/$VARIANT_JOB
AXLE_CACHE_DIR=$caches/$VARIANT_ROW-$key
export AXLE_CACHE_DIR
for old in "$caches"/*; do
  [ "$old" = "$AXLE_CACHE_DIR" ] || rm -rf "$old"
done
mkdir -p "$AXLE_CACHE_DIR"
)";
  text += build_script();
  text += smoke_script();
  text += audit_script();
  return text;
}

std::string local_publish_script(const CiPlan& plan) {
  std::string text(out_folder_lines);
  text += R"(VARIANT_DIST=$OUT/dist/$VARIANT_NAME
mkdir -p "$VARIANT_DIST"
rm -f "$VARIANT_DIST"/*.whl
for job in)";
  for (const CiGroup& group : plan.groups) {
    for (const CiJob& job : group.jobs) text += " " + shell_word(job.name);
  }
  text += R"(; do
  cp "$OUT/wheels/$VARIANT_NAME/$job"/*.whl "$VARIANT_DIST"
done
)";
  return text + publish_script(plan);
}

}  // namespace axle::builder
