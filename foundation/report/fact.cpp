#include "foundation/report/fact.h"

#include <algorithm>
#include <cstddef>

namespace axle {
namespace {

constexpr FactRow rows[] = {
    {FactCode::cpu_has, "cpu-has", "the CPU has {seen}"},
    {FactCode::cpu_version, "cpu-version", "the CPU is {seen}"},
    {FactCode::cpu_lacks, "cpu-lacks", "the CPU lacks {few}"},
    {FactCode::cpu_withheld, "cpu-withheld", "the CPU has {few}, but the kernel withholds it",
     "the CPU has {few}, but the kernel withholds them"},
    {FactCode::cpu_unknown, "cpu-unknown", "it is unknown whether the CPU has {few}"},
    {FactCode::other_architecture, "other-architecture", "the CPU is {seen}, not {needed}"},
    {FactCode::other_cores, "other-cores", "some of the CPU's cores lack {few}"},
    {FactCode::not_allowed, "not-allowed",
     "the CPU has {few}, but the kernel does not enable it (Linux 5.9 or newer does)"},
    {FactCode::registers_off, "registers-off",
     "the CPU has {few}, but the kernel does not enable its registers (old kernel, hypervisor, or "
     "booted with noxsave or clearcpuid)"},
    {FactCode::registers_not_saved, "registers-not-saved",
     "the CPU has {few}, but the kernel does not save extended registers (booted with noxsave?)"},
    {FactCode::withheld_by_name, "withheld-by-name",
     "the CPU has {few}, but the kernel withholds it, for example because of an erratum of this "
     "processor"},
    {FactCode::not_handed_out, "not-handed-out",
     "the CPU has {few}, but the kernel does not grant it (Linux 5.16 or newer does)"},
    {FactCode::handing_out_unknown, "handing-out-unknown",
     "the CPU has {few}, but it is unknown whether the kernel grants it: arch_prctl is denied (by "
     "a container's seccomp filter?)"},
    {FactCode::version_not_told, "version-not-told",
     "the kernel reports {few} but not its version, and vectors are disabled for this process "
     "(Linux 6.4 or newer reports the version)"},
    {FactCode::kernel_too_old, "kernel-too-old",
     "the kernel is too old to report whether the CPU has {few}"},
    {FactCode::vector_length, "vector-length",
     "the {subject} are {seen} bytes long, and the build needs {needed}"},

    {FactCode::device_works, "device-works", "there is a working {subject}"},
    {FactCode::device_unusable, "device-unusable", "{subject} present but not usable: {seen}"},
    {FactCode::device_unknown, "device-unknown", "it is unknown whether the {subject} is usable"},
    {FactCode::no_gpu, "no-gpu", "no {subject}"},
    {FactCode::gpu_not_counted, "gpu-not-counted", "{subject} present but excluded by {source}"},
    {FactCode::gpu_masked, "gpu-masked",
     "{subject} present but hidden from programs by a device mask"},
    {FactCode::no_npu, "no-npu", "no {subject}"},
    {FactCode::npu_not_looked_for, "npu-not-looked-for",
     "it is unknown whether there is a {subject}"},
    {FactCode::npu_kind, "npu-kind", "the NPU is {seen}, and the build is for {needed}",
     "the NPUs differ ({seen}), so none of them counts; the build is for {needed}"},

    {FactCode::gpu_capability, "gpu-capability",
     "the GPU has compute capability {seen}{beside}, and the build has {needed}",
     "the GPUs have compute capability {seen}{beside}, and the build has {needed}"},
    {FactCode::gpu_target, "gpu-target",
     "the GPU is {seen}{beside}, and the build has code for {needed}",
     "the GPUs are {seen}{beside}, and the build has code for {needed}"},
    {FactCode::gpu_device_ip, "gpu-device-ip",
     "the GPU runs code for device IP {seen}{beside}, and the build has {needed}",
     "the GPUs run code for device IP {seen}{beside}, and the build has {needed}"},
    {FactCode::cuda_lower_bound, "cuda-lower-bound",
     "{subject} runs CUDA up to {seen}, and the build needs {needed}"},
    {FactCode::cuda_upper_bound, "cuda-upper-bound",
     "{subject} runs CUDA up to {seen}, and the build is for drivers below {needed}"},
    {FactCode::cuda_too_old, "cuda-too-old",
     "{subject} runs CUDA up to {seen}, but the provider only knows 11.0 and newer"},
    {FactCode::cuda_ptx, "cuda-ptx",
     "{subject} compiles PTX up to CUDA {seen}, and the build has PTX from CUDA {needed}"},
    {FactCode::cuda_compression, "cuda-compression",
     "{subject} runs CUDA up to {seen}, and compressed code needs a driver for CUDA {needed}"},
    {FactCode::driver_version, "driver-version",
     "the {subject} has version {seen}, and the build is for {needed}",
     "the {subject} has several versions ({seen}), so none of them counts; the build is for "
     "{needed}"},
    {FactCode::system_version, "system-version",
     "the system has {subject} {seen}, and the build is for {needed}",
     "the system has several versions of {subject} ({seen}), so none of them counts; the build is "
     "for {needed}"},
    {FactCode::system_version_bound, "system-version-bound",
     "the system has {subject} {seen}, and the build needs {needed}"},
    {FactCode::platform, "platform",
     "the machine is {seen}[ ({source})], and the build is for {needed}"},

    {FactCode::bundled_library, "bundled-library", "the wheel bundles its own {subject}, {needed}"},
    {FactCode::value_unknown, "value-unknown", "the {subject} is unknown"},
    {FactCode::unknown_property, "unknown-property",
     "the provider of {subject} does not know the property {needed}"},

    {FactCode::namespace_disabled, "namespace-disabled",
     "namespace {subject} is disabled: {source}"},
    {FactCode::namespace_unknown, "namespace-unknown",
     "it is unknown which properties of {subject} this machine supports"},
    {FactCode::namespace_not_listed, "namespace-not-listed",
     "the namespace {subject} is not among the release's priorities"},
    {FactCode::not_in_list, "not-in-list", "not in {source}"},
    {FactCode::not_in_plugin_list, "not-in-plugin-list", "{source} does not list it here"},
    {FactCode::plugin_untrusted, "plugin-untrusted", "{source}"},
    {FactCode::plugin_failed, "plugin-failed", "{source}"},
    {FactCode::no_provider, "no-provider", "{source}"},
    {FactCode::abi_version, "abi-version", "this resolution has {subject} {seen}"},
    {FactCode::abi_absent, "abi-absent",
     "{subject} is neither part of this resolution nor installed"},
    {FactCode::package_installed, "package-installed", "{subject} {seen} is installed"},
    {FactCode::package_not_installed, "package-not-installed", "{subject} is not installed"},

    {FactCode::part_of, "part-of", "{subject}", "", true},
    {FactCode::every_gpu, "every-gpu",
     "[{subject}; ]every GPU must run it[ unless {source} says otherwise]", "", true},
    {FactCode::one_gpu, "one-gpu", "one of them is enough", "", true},
    {FactCode::own_code_only, "own-code-only", "integrated GPU: only code compiled for it runs", "",
     true},
    {FactCode::gpu_left_out, "gpu-left-out", "excluded by {source}[: {seen}]", "", true},
    {FactCode::integrated_left_out, "integrated-left-out",
     "the integrated GPU next to it[, {seen},] does not count", "", true},
};

consteval bool in_order() {
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    if (rows[i].code != static_cast<FactCode>(i)) return false;
  }
  return std::size(rows) == static_cast<std::size_t>(FactCode::integrated_left_out) + 1;
}
static_assert(in_order(), "one row per code, in the order of the codes");

const FactRow& row_of(FactCode code) { return rows[static_cast<std::size_t>(code)]; }

constexpr std::size_t few = 4;

/// "a, b and c"; cut short: "a, b, c, d and 2 more".
std::string listed(const std::vector<std::string>& items, std::size_t most) {
  const std::size_t shown = std::min(items.size(), most);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += i + 1 == items.size() ? " and " : ", ";
    text += items[i].empty() ? "an unknown one" : items[i];
  }
  if (items.size() > shown) text += " and " + std::to_string(items.size() - shown) + " more";
  return text;
}

/// "compiled code for 7.5", "compiled code for 8.0": a common beginning is written once.
std::vector<std::string> said_once(const std::vector<std::string>& items) {
  std::vector<std::string> words;
  std::string_view said;
  for (const std::string& item : items) {
    const std::size_t last_word = item.rfind(' ') + 1;
    const std::string_view head = std::string_view(item).substr(0, last_word);
    words.push_back(head == said ? item.substr(last_word) : item);
    said = head;
  }
  return words;
}

/// Fields and brackets filled in.
class Sentence {
 public:
  Sentence(const Fact& fact, std::string_view beside) : fact_(fact), beside_(beside) {}

  [[nodiscard]] std::string fill(std::string_view pattern) {
    std::string text;
    while (!pattern.empty()) {
      const std::size_t mark = std::min(pattern.find_first_of("[{"), pattern.size());
      text += pattern.substr(0, mark);
      pattern.remove_prefix(mark);
      if (pattern.empty()) break;
      const std::size_t end = pattern.find(pattern.front() == '[' ? ']' : '}');
      const std::string_view inside = pattern.substr(1, end - 1);
      text += pattern.front() == '[' ? optional_part(inside) : field(inside);
      pattern.remove_prefix(end + 1);
    }
    return text;
  }

 private:
  [[nodiscard]] std::string field(std::string_view name) {
    std::string text;
    if (name == "subject") text = fact_.subject;
    if (name == "needed") text = listed(said_once(fact_.needed), fact_.needed.size());
    if (name == "few") text = listed(fact_.needed, few);
    if (name == "seen") text = listed(fact_.seen, fact_.seen.size());
    if (name == "source") text = fact_.source;
    if (name == "beside") return std::string(beside_);
    empty_ = empty_ || text.empty();
    return text;
  }

  [[nodiscard]] std::string optional_part(std::string_view pattern) {
    empty_ = false;
    std::string text = fill(pattern);
    return empty_ ? std::string() : text;
  }

  const Fact& fact_;
  std::string_view beside_;
  bool empty_ = false;
};

std::string_view pattern_of(const Fact& fact) {
  const FactRow& row = row_of(fact.code);
  const auto& counted = fact.seen.empty() ? fact.needed : fact.seen;
  return counted.size() > 1 && !row.several.empty() ? row.several : row.sentence;
}

/// " (level v4)", or nothing.
std::string circumstances(std::span<const Fact> facts) {
  std::string text;
  for (const Fact& fact : facts) {
    if (row_of(fact.code).circumstance)
      text += (text.empty() ? " (" : "; ") + Sentence(fact, {}).fill(pattern_of(fact));
  }
  return text.empty() ? text : text + ")";
}

}  // namespace

std::span<const FactRow> fact_rows() { return rows; }

std::string_view render_code(FactCode code) { return row_of(code).word; }

std::string render_facts(std::span<const Fact> facts) {
  std::string beside = circumstances(facts);
  std::string text;
  for (const Fact& fact : facts) {
    if (row_of(fact.code).circumstance) continue;
    const std::string_view pattern = pattern_of(fact);
    text += (text.empty() ? "" : " and ") + Sentence(fact, beside).fill(pattern);
    if (pattern.contains("{beside}")) beside.clear();
  }
  return text + beside;
}

Facts merge_facts(std::span<const Facts> each) {
  Facts merged;
  const auto add = [&](const Fact& fact) {
    const auto same = std::ranges::find_if(merged, [&](const Fact& other) {
      return other.code == fact.code && other.subject == fact.subject && other.seen == fact.seen &&
             other.source == fact.source;
    });
    if (same == merged.end()) {
      merged.push_back(fact);
      return;
    }
    for (const std::string& needed : fact.needed) {
      if (std::ranges::find(same->needed, needed) == same->needed.end())
        same->needed.push_back(needed);
    }
  };
  for (const bool circumstance : {false, true}) {
    for (const Facts& facts : each) {
      for (const Fact& fact : facts) {
        if (row_of(fact.code).circumstance == circumstance) add(fact);
      }
    }
  }
  return merged;
}

}  // namespace axle
