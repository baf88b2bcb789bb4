#include "detect/drivers/kept_answers.h"

#include <algorithm>

#include "detect/amd/facts.h"
#include "detect/intel/facts.h"
#include "detect/nvidia/facts.h"

namespace axle::detect {
namespace {

constexpr std::string_view header = "axle driver answers 1\n";
constexpr std::string_view answer_word = "answer\t";
constexpr std::string_view line_word = "\t";
constexpr std::string_view end_line = "end\n";
constexpr std::size_t most_answers = 8;
constexpr std::int64_t a_day = 24 * 60 * 60;
constexpr std::int64_t ten_minutes = 10 * 60;

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// "answer\t<time>\t<subject>"
std::optional<KeptAnswer> parse_heading(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return std::nullopt;
  const auto time = parse_integer(line.substr(0, tab));
  if (!time || *time <= 0) return std::nullopt;
  return KeptAnswer{std::string(line.substr(tab + 1)), *time, {}};
}

std::int64_t lifetime_of(const NvidiaAnswer& said) {
  const auto failed = [](const std::optional<std::int64_t>& code) { return code.value_or(0) != 0; };
  if (failed(said.nvml_init) || failed(said.cuda_init) || failed(said.compat_init) ||
      said.cuda_version_error || said.nvml_device_error || said.fabric_pending ||
      !said.refused.empty()) {
    return 0;
  }
  if (!said.cuda_missing.empty() || !said.missing_symbols.empty()) return ten_minutes;
  const auto& devices = said.nvml_devices.empty() ? said.cuda_devices : said.nvml_devices;
  const bool complete =
      !devices.empty() && std::ranges::none_of(devices, [&](const NvidiaDevice& device) {
        return (device.capability.empty() && said.cuda_devices.empty()) ||
               device.mig_instances == 0;
      });
  return complete ? a_day : ten_minutes;
}

std::int64_t lifetime_of(const SmiAnswer& said) {
  if (said.init.value_or(0) != 0 || !said.refused.empty()) return 0;
  return said.devices.empty() ? ten_minutes : a_day;
}

std::int64_t lifetime_of(const LevelZeroAnswer& said) {
  if (said.init.value_or(0) != 0 || said.device_error || !said.refused.empty()) return 0;
  const bool complete = !said.devices.empty() &&
                        std::ranges::none_of(said.devices, [](const LevelZeroDevice& device) {
                          return device.ip == 0;
                        });
  return complete ? a_day : ten_minutes;
}

}  // namespace

std::string render_kept_answers(std::string_view fingerprint,
                                const std::vector<KeptAnswer>& answers) {
  std::string text(header);
  text += fingerprint;
  for (const KeptAnswer& answer : answers) {
    text += answer_word;
    text += std::to_string(answer.time) + '\t' + answer.subject + '\n';
    std::string_view rest = answer.text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      text += line_word;
      text += rest.substr(0, end);
      text += '\n';
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  text += end_line;
  return text;
}

std::optional<std::vector<KeptAnswer>> parse_kept_answers(std::string_view text,
                                                          std::string_view fingerprint) {
  if (!take_prefix(text, header) || !take_prefix(text, fingerprint)) return std::nullopt;
  std::vector<KeptAnswer> answers;
  while (text != end_line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (take_prefix(line, answer_word)) {
      auto answer = parse_heading(line);
      if (!answer || answers.size() == most_answers) return std::nullopt;
      answers.push_back(std::move(*answer));
    } else if (take_prefix(line, line_word) && !answers.empty()) {
      answers.back().text += line;
      answers.back().text += '\n';
    } else {
      return std::nullopt;
    }
  }
  return answers;
}

std::int64_t lifetime_of(GpuVendor vendor, std::string_view lines) {
  const auto said = parse_driver_lines(lines);
  switch (vendor) {
    case GpuVendor::nvidia:
      return lifetime_of(read_nvidia_lines(said));
    case GpuVendor::amd:
      return lifetime_of(read_smi_lines(said));
    case GpuVendor::intel:
      return lifetime_of(read_level_zero_lines(said));
  }
  return 0;
}

}  // namespace axle::detect
