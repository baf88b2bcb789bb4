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

}  // namespace axle::plan
