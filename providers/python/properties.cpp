// The program behind the Python plugin: prints the properties of namespace `axle`, those of this
// machine or all.
//   axle_properties supported|all
// One line per feature, best first: name, TAB, 0 or 1 (several values), TAB, values separated by
// spaces. Messages go to stderr.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "detect/host.h"
#include "detect/probe.h"
#include "foundation/report/report.h"
#include "machines/overrides.h"
#include "providers/provider.h"

namespace {

using axle::providers::Features;

class StderrReport final : public axle::Report {
 public:
  void add(axle::Remark remark) override {
    if (remark.severity == axle::Severity::warning)
      std::fprintf(stderr, "axle: %s\n", remark.message.c_str());
  }
  void progress(const axle::Work&) override {}
};

std::string variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::string() : std::string(value);
}

/// An invalid policy is replaced by the strictest one.
axle::providers::GpuPolicy read_policy(axle::Report& report) {
  const std::string text = variable("AXLE_GPU_POLICY");
  if (text.empty()) return {};
  if (auto policy = axle::providers::parse_gpu_policy(text)) return *policy;
  report.warn("AXLE_GPU_POLICY=" + text + " is not a valid policy; all is used");
  return {};
}

void warn_of_devices(const axle::detect::Machine& machine, const axle::providers::GpuPolicy& policy,
                     axle::Report& report) {
  const std::string text = "AXLE_GPU_POLICY=" + axle::providers::render_gpu_policy(policy);
  for (const std::string& device : axle::providers::unknown_devices(machine, policy))
    report.warn(text + ": this machine has no GPU " + device);
  for (const auto& [device, why] : axle::providers::idle_devices(machine, policy))
    report.warn(text + ": GPU " + device + " is ignored: " + axle::render_fact(why));
}

Features supported(const axle::providers::Provider& provider) {
  StderrReport report;
  std::vector<axle::machines::Override> overrides;
  for (const auto& row : axle::machines::override_variables())
    overrides.push_back({std::string(row.name), variable(row.name)});
  const auto host = axle::detect::make_real_host();
  axle::detect::Machine machine =
      axle::detect::probe_machine(*host, {.stated = axle::machines::stated_vendors(overrides)});
  if (const auto applied = axle::machines::apply_overrides(machine, overrides, report); !applied) {
    report.warn(applied.error().message + ", nothing is supported: " + applied.error().hint);
    return {};
  }
  const axle::providers::GpuPolicy policy = read_policy(report);
  warn_of_devices(machine, policy, report);
  return provider.supported(machine, policy);
}

void print(const Features& features) {
  for (const axle::providers::Feature& feature : features) {
    std::printf("%s\t%d\t", feature.name.c_str(), feature.multi_value ? 1 : 0);
    for (const std::string& value : feature.values)
      std::printf("%s%s", &value == feature.values.data() ? "" : " ", value.c_str());
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc == 2 ? argv[1] : "";
  const axle::providers::Provider& provider = *axle::providers::find_provider("axle");
  if (wanted == "supported") {
    print(supported(provider));
  } else if (wanted == "all") {
    print(provider.all());
  } else {
    std::fputs("usage: axle_properties supported|all\n", stderr);
    return 2;
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
