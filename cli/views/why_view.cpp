#include "cli/views/why_view.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "detect/probe.h"
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

/// A reason ends with its fix; where the fix stands on its own, it is taken off.
std::string without_hint(std::string reason, const std::string& hint) {
  const std::string tail = "; " + hint;
  if (!hint.empty() && reason.ends_with(tail)) reason.erase(reason.size() - tail.size());
  return reason;
}

Verdict make_verdict(const Machine& machine, std::string_view kind, std::string subject,
                     Presence usable, const std::string& reason_code, const std::string& reason) {
  const std::string hint = hint_of(machine, kind, reason_code);
  return {std::move(subject), std::string(detect::render_presence(usable)), reason_code,
          without_hint(reason, hint), hint};
}

std::string join(std::initializer_list<std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!word.empty()) text += (text.empty() ? "" : " ") + std::string(word);
  }
  return text;
}

void judge_gpus(const Machine& machine, std::string_view ns, std::vector<Verdict>& verdicts) {
  for (const detect::Driver& driver : machine.drivers) {
    if (detect::render_vendor(driver.vendor) != ns) continue;
    verdicts.push_back(make_verdict(machine, ns, join({"driver", driver.kernel_version}),
                                    driver.usable, driver.reason_code, driver.reason));
  }
  for (const detect::Gpu& gpu : machine.gpus) {
    if (detect::render_vendor(gpu.vendor) != ns) continue;
    Verdict verdict = make_verdict(machine, ns, join({"GPU", gpu.pci_address, gpu.name, gpu.arch}),
                                   gpu.usable, gpu.reason_code, gpu.reason);
    if (gpu.masked) verdict.reason += join({verdict.reason.empty() ? "" : ";", "masked"});
    verdicts.push_back(std::move(verdict));
  }
}

void judge_npus(const Machine& machine, std::string_view ns, std::vector<Verdict>& verdicts) {
  for (const detect::Npu& npu : machine.npus) {
    if (detect::render_npu_kind(npu.kind) != ns) continue;
    verdicts.push_back(make_verdict(machine, ns, join({"NPU", npu.pci_address, npu.name, npu.type}),
                                    npu.usable, npu.reason_code, npu.reason));
  }
}

bool concerns_cpu(std::string_view ns) { return ns == "x86_64" || ns == "aarch64" || ns == "axle"; }

/// What programs cannot count on, one verdict a reason.
void judge_withheld(const detect::Cpu& cpu, std::vector<Verdict>& verdicts) {
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
    verdicts.push_back({names, std::string(detect::render_presence(reason.second)), reason.first,
                        providers::describe_capabilities(cpu, capabilities), ""});
  }
}

void judge_cpu(const Machine& machine, std::vector<Verdict>& verdicts) {
  std::string state(detect::render_arch(machine.cpu.arch));
  if (machine.cpu.arch == detect::Arch::x86_64) {
    const unsigned level = detect::highest_x86_64_level(machine.cpu.capabilities);
    if (level > 0) state += fmt::format(" v{}", level);
  }
  verdicts.push_back({join({"CPU", machine.cpu.brand}), state, "", "", ""});
  judge_withheld(machine.cpu, verdicts);
}

std::vector<Verdict> judge(const Machine& machine, std::string_view ns) {
  std::vector<Verdict> verdicts;
  if (concerns_cpu(ns)) judge_cpu(machine, verdicts);
  for (const char* vendor : {"nvidia", "amd", "intel"}) {
    if (ns == vendor || ns == "axle") judge_gpus(machine, vendor, verdicts);
  }
  judge_npus(machine, ns, verdicts);
  return verdicts;
}

/// The variables whose values stand in the place of what was found.
void add_overrides(const machines::NamedMachine& named, std::string_view ns,
                   std::vector<machines::Observation>& evidence) {
  for (const machines::OverrideVariable& row : machines::override_variables()) {
    if (row.ns != ns && ns != "axle") continue;
    const auto given = std::ranges::find(named.overrides, row.name, &machines::Override::variable);
    if (given == named.overrides.end()) continue;
    evidence.push_back({fmt::format("environment variable {}", row.name),
                        given->value + " (takes the place of what was found)"});
  }
}

std::string known_namespaces() {
  std::string names;
  for (const providers::Provider& provider : providers::builtin_providers()) {
    names += (names.empty() ? "" : ", ") + std::string(provider.ns);
  }
  return names;
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

std::string render_verdict(const Verdict& verdict, const Output& output) {
  const bool bad = verdict.state == "blocked" || verdict.state == "unknown";
  std::string text = fmt::format("  {}: {}", verdict.subject,
                                 output.paint(bad ? Style::bad : Style::good, verdict.state));
  if (!verdict.reason_code.empty()) text += fmt::format(" [{}]", verdict.reason_code);
  text += "\n";
  if (!verdict.reason.empty()) text += fmt::format("    {}\n", verdict.reason);
  if (!verdict.hint.empty()) text += fmt::format("    hint: {}\n", verdict.hint);
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
    return session::misused(fmt::format("--why {}: there is no provider for that namespace", ns),
                            "one of " + known_namespaces());
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
    text += "  nothing: no fact of the machine bears on it\n";
  }
  text += output.paint(Style::strong, "verdict") + "\n";
  for (const Verdict& verdict : why.verdicts) text += render_verdict(verdict, output);
  if (why.verdicts.empty()) text += "  there is none of it here\n";
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
  ordered_json verdicts = ordered_json::array();
  const auto text = [](const std::string& value) {
    return value.empty() ? ordered_json() : ordered_json(value);
  };
  for (const Verdict& verdict : why.verdicts) {
    verdicts.push_back({{"subject", verdict.subject},
                        {"state", verdict.state},
                        {"reason_code", text(verdict.reason_code)},
                        {"reason", text(verdict.reason)},
                        {"hint", text(verdict.hint)}});
  }
  body["verdict"] = std::move(verdicts);
  ordered_json features = ordered_json::object();
  for (const providers::Feature& feature : why.properties) features[feature.name] = feature.values;
  body["properties"] = {{why.ns, std::move(features)}};
}

}  // namespace axle::cli
