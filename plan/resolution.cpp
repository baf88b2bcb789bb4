#include "plan/resolution.h"

namespace axle::plan {

std::string render_package(const ResolvedPackage& package) {
  std::string text = package.name + " " + wheel::render_version(package.version);
  if (package.variant && !text.ends_with("+" + *package.variant))
    text += " (variant " + *package.variant + ")";
  if (package.built_from) {
    text +=
        " (built from " + package.built_from->filename + " by " + package.built_from->builder + ")";
  }
  return text;
}

}  // namespace axle::plan
