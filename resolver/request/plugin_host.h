#pragma once
// The seam to provider plugins: what a resolution asks them. session/ fills it.

#include <span>
#include <string>
#include <vector>

#include "foundation/report/report.h"
#include "plan/decision.h"
#include "providers/provider.h"

namespace axle::resolver {

/// A namespace whose lists a plugin would give, as the metadata names it.
struct PluginRequest {
  std::string ns;
  std::vector<std::string> requires_;  ///< PEP 508, those whose markers hold; may be empty
  std::string plugin_api;              ///< as written, else derived from the first requirement
  std::string not_ours;  ///< why the provider that Axle carries is not the one; empty: it has none
};

struct PluginLists {
  plan::ListOrigin origin = plan::ListOrigin::untrusted;  ///< plugin, untrusted, failed or none
  std::string detail;  ///< which plugin; else why there is nothing
  providers::Features features;
};

/// Nothing is asked twice in one run.
class PluginHost {
 public:
  virtual ~PluginHost() = default;
  /// One answer a request, in order. All trusted plugins are asked at once. What a person must know
  /// (untrusted: with the command that would trust it; failed: why) is reported once a run.
  [[nodiscard]] virtual std::vector<PluginLists> ask(std::span<const PluginRequest> requests,
                                                     Report& report) = 0;
};

}  // namespace axle::resolver
