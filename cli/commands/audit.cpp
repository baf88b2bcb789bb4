// audit: wheels, installed packages and images, declared against found.
#include "doctor/audit/audit.h"

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/views/audit_view.h"
#include "cli/views/findings_view.h"

namespace axle::cli {

int run_audit(session::Session& session, Output& output) {
  const auto& targets = session.arguments().positionals;
  if (targets.empty())
    return output.failure(session::misused("nothing to audit was named",
                                           "a wheel, a folder, an image, or the word `installed`")
                              .error());
  if (session.arguments().has(session::Opt::gpu_policy) && !session.elsewhere()) {
    return output.failure(
        session::misused("--gpu-policy says which GPUs of a machine count, and none is named",
                         "name one: --for h100")
            .error());
  }
  auto audited = doctor::audit(session, targets);
  if (!audited) return output.failure(audited.error());
  complete_commands(audited->findings, output.run());
  return output.answer({.text = [&] { return render_audit(*audited, output); },
                        .json = [&] { return audit_json(*audited); }},
                       audited->findings.has_fault() ? session::exit_failed : 0);
}

}  // namespace axle::cli
