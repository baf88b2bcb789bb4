#include "cli/views/why_view.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/views/facts_view.h"
#include "detect/gpu_vendors.h"
#include "detect/probe.h"
#include "foundation/text/nearest.h"
#include "providers/cpu_flags.h"

namespace axle::cli {

using detect::Machine;
using detect::Presence;
using nlohmann::ordered_json;

namespace {

std::string hint_of(const Machine& machine, std::string_view kind, const std::string& reason_code) {
  const std::string code = std::string(kind) + '.' + reason_code;
  const auto found = std::ranges::find(machine.problems, code, &detect::Problem::code);
  return found == machine.problems.end() ? std::string() : found->hint;
}

PartState state_of(const Machine& machine, std::string_view kind, std::string subject,
                   Presence usable, const std::string& reason_code, const std::string& reason) {
  return {std::move(subject), std::string(detect::render_presence(usable)), reason_code, reason,
          hint_of(machine, kind, reason_code)};
}

std::string join(std::initializer_list<std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!word.empty()) text += (text.empty() ? "" : " ") + std::string(word);
  }
  return text;
}

void judge_gpus(const Machine& machine, std::string_view ns, std::vector<PartState>& parts) {
  for (const detect::Driver& driver : machine.drivers) {
    if (detect::render_vendor(driver.vendor) != ns) continue;
    parts.push_back(state_of(machine, ns, join({"driver", driver.kernel_version}), driver.usable,
                             driver.reason_code, driver.reason));
  }
  for (const detect::Gpu& gpu : machine.gpus) {
    if (detect::render_vendor(gpu.vendor) != ns) continue;
    PartState part = state_of(machine, ns, join({"GPU", gpu.pci_address, gpu.name, gpu.arch}),
                              gpu.usable, gpu.reason_code, gpu.reason);
    if (gpu.masked) part.reason += join({part.reason.empty() ? "" : ";", "masked"});
    parts.push_back(std::move(part));
  }
}

void judge_npus(const Machine& machine, std::string_view ns, std::vector<PartState>& parts) {
  for (const detect::Npu& npu : machine.npus) {
    if (detect::render_npu_kind(npu.kind) != ns) continue;
    parts.push_back(state_of(machine, ns, join({"NPU", npu.pci_address, npu.name, npu.type}),
                             npu.usable, npu.reason_code, npu.reason));
  }
}

bool concerns_cpu(std::string_view ns) { return ns == "x86_64" || ns == "aarch64" || ns == "axle"; }

/// What programs cannot rely on, one row per reason.
void judge_withheld(const detect::Cpu& cpu, std::vector<PartState>& parts) {
  std::map<std::pair<std::string, Presence>, std::vector<detect::Capability>> by_reason;
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    const Presence presence = cpu.capabilities.of(row.id);
    const auto evidence = cpu.sources.find(row.name);
    const bool settled = presence == Presence::present || presence == Presence::absent;
    if (settled || evidence == cpu.sources.end()) continue;
    by_reason[{evidence->second, presence}].push_back(row.id);
  }
  for (const auto& [reason, capabilities] : by_reason) {
    std::string names;
    for (const detect::Capability each : capabilities) {
      names += (names.empty() ? "" : " ") + std::string(detect::plain_name(detect::row(each)));
    }
    const Fact fact = providers::about_capabilities(cpu, capabilities);
    parts.push_back({names,
                     std::string(detect::render_presence(reason.second)),
                     reason.first,
                     render_fact(fact),
                     "",
                     {fact}});
  }
}

void judge_cpu(const Machine& machine, std::vector<PartState>& parts) {
  std::string state(detect::render_arch(machine.cpu.arch));
  if (machine.cpu.arch == detect::Arch::x86_64) {
    const unsigned level = detect::highest_x86_64_level(machine.cpu.capabilities);
    if (level > 0) state += fmt::format(" v{}", level);
  }
  parts.push_back({join({"CPU", machine.cpu.brand}), state, "", "", ""});
  judge_withheld(machine.cpu, parts);
}

std::vector<PartState> judge(const Machine& machine, std::string_view ns) {
  std::vector<PartState> parts;
  if (concerns_cpu(ns)) judge_cpu(machine, parts);
  for (const detect::GpuVendorRow& vendor : detect::gpu_vendors()) {
    if (ns == vendor.word || ns == "axle") judge_gpus(machine, vendor.word, parts);
  }
  judge_npus(machine, ns, parts);
  return parts;
}

/// The variables whose values replace detected facts.
void add_overrides(const machines::NamedMachine& named, std::string_view ns,
                   std::vector<machines::Observation>& evidence) {
  for (const machines::OverrideVariable& row : machines::override_variables()) {
    if (row.ns != ns && ns != "axle") continue;
    const auto given = std::ranges::find(named.overrides, row.name, &machines::Override::variable);
    if (given == named.overrides.end()) continue;
    evidence.push_back({fmt::format("environment variable {}", row.name),
                        given->value + " (replaces what was detected)"});
  }
}

constexpr std::size_t shown_values = 8;

std::string render_values(const providers::Feature& feature) {
  std::string text;
  for (std::size_t i = 0; i < feature.values.size() && i < shown_values; ++i) {
    text += (i == 0 ? "" : ", ") + feature.values[i];
  }
  if (feature.values.size() > shown_values) {
    text += fmt::format(", … {} more", feature.values.size() - shown_values);
  }
  return text;
}

std::string render_part(const PartState& part, const Output& output) {
  const bool bad = part.state == "blocked" || part.state == "unknown";
  std::string text = fmt::format("  {}: {}", part.subject,
                                 output.paint(bad ? Style::bad : Style::good, part.state));
  if (!part.reason_code.empty()) text += fmt::format(" [{}]", part.reason_code);
  text += "\n";
  if (!part.reason.empty()) text += fmt::format("    {}\n", part.reason);
  return text;
}

std::string render_properties_of(const Why& why) {
  if (why.properties.empty()) return "  none\n";
  std::string text;
  std::string flags;
  for (const providers::Feature& feature : why.properties) {
    if (feature.values == std::vector<std::string>{"on"}) {
      flags += (flags.empty() ? "" : " ") + feature.name;
    } else {
      text += fmt::format("  {} :: {} :: {}\n", why.ns, feature.name, render_values(feature));
    }
  }
  if (!flags.empty()) text += fmt::format("  on: {}\n", flags);
  return text;
}

}  // namespace

session::Outcome<Why> explain_namespace(const std::string& ns, const machines::NamedMachine& named,
                                        const providers::GpuPolicy& gpus) {
  const providers::Provider* provider = providers::find_provider(ns);
  if (provider == nullptr) {
    const std::vector<std::string> known = providers::builtin_namespaces();
    return session::misused(
        fmt::format("--why {}: no provider for that namespace", ns),
        text::suggest(ns, known, fmt::format("one of {}", fmt::join(known, ", "))));
  }
  Why why{ns, !named.recording, {}, judge(named.machine, ns), {}};
  if (named.recording) {
    detect::ReplayHost replay(*named.recording);
    detect::RecordingHost asked(replay);
    (void)detect::probe_machine(asked);
    why.evidence = machines::find_evidence(ns, asked.questions());
  }
  add_overrides(named, ns, why.evidence);
  why.properties = provider->supported(named.machine, gpus);
  return why;
}

std::string render_why(const Why& why, const Output& output) {
  std::string text = output.paint(Style::strong, "asked") + "\n";
  for (const machines::Observation& each : why.evidence) {
    const std::string answer = each.answer ? (each.answer->empty() ? "(empty)" : *each.answer)
                                           : output.paint(Style::faint, "not there");
    text += fmt::format("  {} -> {}\n", each.asked, answer);
  }
  if (why.stated) text += "  nothing: the facts of this machine were stated\n";
  if (!why.stated && why.evidence.empty()) {
    text += "nothing: it does not depend on the machine\n";
  }
  text += output.paint(Style::strong, "verdict") + "\n";
  for (const PartState& part : why.parts) text += render_part(part, output);
  if (why.parts.empty()) text += "none found\n";
  text += output.paint(Style::strong, "properties") + "\n" + render_properties_of(why);
  return text;
}

void add_why(ordered_json& body, const Why& why) {
  body["namespace"] = why.ns;
  ordered_json asked = ordered_json::array();
  for (const machines::Observation& each : why.evidence) {
    asked.push_back({{"asked", each.asked},
                     {"answer", each.answer ? ordered_json(*each.answer) : ordered_json()}});
  }
  body["why"] = std::move(asked);
  ordered_json rows = ordered_json::array();
  const auto text = [](const std::string& value) {
    return value.empty() ? ordered_json() : ordered_json(value);
  };
  for (const PartState& part : why.parts) {
    rows.push_back({{"subject", part.subject},
                    {"state", part.state},
                    {"reason_code", text(part.reason_code)},
                    {"reason", text(part.reason)},
                    {"hint", text(part.hint)},
                    {"facts", facts_json(part.facts)}});
  }
  body["verdict"] = std::move(rows);
  ordered_json features = ordered_json::object();
  for (const providers::Feature& feature : why.properties) features[feature.name] = feature.values;
  body["properties"] = {{why.ns, std::move(features)}};
}

}  // namespace axle::cli
