#include "plan/decision.h"

namespace axle::plan {

std::string_view render_origin(ListOrigin origin) {
  switch (origin) {
    case ListOrigin::disabled:
      return "disabled";
    case ListOrigin::static_list:
      return "static";
    case ListOrigin::user_list:
      return "user";
    case ListOrigin::builtin:
      return "built in";
    case ListOrigin::plugin:
      return "plugin";
    case ListOrigin::untrusted:
      return "untrusted";
    case ListOrigin::failed:
      return "failed";
    case ListOrigin::none:
      return "none";
  }
  return "none";
}

std::string_view render_skip(SkipCode code) {
  switch (code) {
    case SkipCode::name:
      return "name";
    case SkipCode::other_release:
      return "other-release";
    case SkipCode::other_version:
      return "other-version";
    case SkipCode::yanked:
      return "yanked";
    case SkipCode::python:
      return "python";
    case SkipCode::tags:
      return "tags";
    case SkipCode::plain_only:
      return "plain-only";
    case SkipCode::forbidden:
      return "forbidden";
    case SkipCode::withheld:
      return "withheld";
    case SkipCode::abi:
      return "abi";
    case SkipCode::hash:
      return "hash";
    case SkipCode::unknown_needs:
      return "unknown-needs";
    case SkipCode::label_unknown:
      return "label-unknown";
    case SkipCode::fallback:
      return "fallback";
    case SkipCode::metadata:
      return "metadata";
  }
  return "metadata";
}

}  // namespace axle::plan
