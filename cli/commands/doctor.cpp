// doctor: problems of this machine and of an environment, and how to fix them.
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/views/features_view.h"
#include "cli/views/findings_view.h"
#include "doctor/examination.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

ordered_json environment_json(const std::optional<doctor::ExaminedEnvironment>& environment) {
  if (!environment) return nullptr;
  return {{"python", environment->python},
          {"prefix", environment->prefix},
          {"packages", environment->packages},
          {"libraries", environment->libraries},
          {"bytes_read", environment->bytes_read}};
}

std::string render(const doctor::Examination& examined, const Output& output) {
  std::string text = render_findings(examined.findings, output);
  if (const auto& package = examined.package)
    text += "\n" + render_features(package->features, package->title, output);
  return text;
}

ordered_json examination_json(const doctor::Examination& examined) {
  ordered_json body = {{"machine", examined.machine},
                       {"environment", environment_json(examined.environment)},
                       {"findings", findings_json(examined.findings)},
                       {"not_looked_at", examined.findings.unseen()}};
  if (const auto& package = examined.package) {
    body["package"] = package->title;
    body["features"] = features_json(package->features);
  }
  return body;
}

}  // namespace

int run_doctor(session::Session& session, Output& output) {
  auto examined = doctor::examine(session);
  if (!examined) return output.failure(examined.error());
  complete_commands(examined->findings, output.run());
  return output.answer({.text = [&] { return render(*examined, output); },
                        .json = [&] { return examination_json(*examined); }},
                       examined->findings.has_error() ? session::exit_failed : 0);
}

}  // namespace axle::cli
