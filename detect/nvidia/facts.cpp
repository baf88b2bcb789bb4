#include "detect/nvidia/facts.h"

#include <algorithm>

#include "detect/nvidia/cuda_compat.h"
#include "detect/text_pieces.h"

namespace axle::detect {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_entry_word(std::string_view& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return text = {};
  text.remove_prefix(begin);
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

std::string_view line_with(std::string_view text, std::string_view prefix) {
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.starts_with(prefix)) return line.substr(prefix.size());
  }
  return {};
}

/// "12.9" -> 12090, the form that drivers report; 0 for anything else.
std::int64_t parse_cuda_version(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return 0;
  const auto major = parse_integer(text.substr(0, dot));
  const auto minor = parse_integer(text.substr(dot + 1));
  if (!major || !minor || *major < 0 || *major > 99 || *minor < 0 || *minor > 99) return 0;
  return *major * 1000 + *minor * 10;
}

/// "535,550,570"
std::vector<unsigned> parse_branches(std::string_view text) {
  std::vector<unsigned> branches;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const auto branch = parse_integer(text.substr(0, end));
    if (branch && *branch > 0 && *branch < 10000) {
      branches.push_back(static_cast<unsigned>(*branch));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return branches;
}

NvidiaDevice read_device(const DriverLine& line) {
  NvidiaDevice device;
  device.index = parse_integer(line.field(0)).value_or(0);
  if (is_capability(line.field(1))) device.capability = line.field(1);
  device.pci_address = normalise_pci_address(line.field(2));
  const std::int64_t memory = parse_integer(line.field(3)).value_or(0);
  device.memory = memory > 0 ? static_cast<std::uint64_t>(memory) : 0;
  device.name = sanitise(line.field(5));
  return device;
}

void read_compat(NvidiaAnswer& answer, std::string_view file) {
  if (answer.retried) return;
  answer.compat = true;
  answer.compat_file = file;
}

/// The forward-compatibility libcuda failed: the following lines are from the driver's own.
void start_again(NvidiaAnswer& answer, std::string_view file) {
  if (answer.retried) return;
  answer.retried = true;
  answer.compat_init = answer.cuda_init ? answer.cuda_init : answer.cuda_version_error;
  answer.cuda_file = file;
  answer.cuda_version.reset();
  answer.cuda_version_error.reset();
  answer.cuda_init.reset();
  answer.cuda_devices.clear();
}

bool read_cuda_line(NvidiaAnswer& answer, const DriverLine& line) {
  if (line.word == "cuda.missing") {
    answer.cuda_missing = line.field(0);
  } else if (line.word == "cuda.file") {
    answer.cuda_file = line.field(0);
    if (is_compat_path(answer.cuda_file)) read_compat(answer, answer.cuda_file);
  } else if (line.word == "cuda.compat") {
    read_compat(answer, answer.cuda_file);
    if (render_cuda_version(parse_cuda_version(line.field(0))))
      answer.compat_version = line.field(0);
    answer.compat_branches = parse_branches(line.field(1));
  } else if (line.word == "cuda.retry") {
    start_again(answer, line.field(0));
  } else if (line.word == "cuda.version") {
    answer.cuda_version = parse_integer(line.field(0));
  } else if (line.word == "cuda.version_error") {
    answer.cuda_version_error = parse_integer(line.field(0));
  } else if (line.word == "cuda.init") {
    answer.cuda_init = parse_integer(line.field(0));
  } else if (line.word == "cuda.device") {
    NvidiaDevice device = read_device(line);
    device.integrated = line.field(4) == "1";
    answer.cuda_devices.push_back(std::move(device));
  } else {
    return false;
  }
  return true;
}

bool read_nvml_line(NvidiaAnswer& answer, const DriverLine& line) {
  if (line.word == "nvml.by") {
    answer.by_tool = line.field(0) == "nvidia-smi";
  } else if (line.word == "nvml.init") {
    answer.nvml_init = parse_integer(line.field(0));
  } else if (line.word == "nvml.cuda") {
    answer.nvml_cuda = parse_integer(line.field(0));
  } else if (line.word == "nvml.driver") {
    if (is_driver_version(line.field(0))) answer.nvml_driver = line.field(0);
  } else if (line.word == "nvml.count") {
    answer.nvml_count = parse_integer(line.field(0));
  } else if (line.word == "nvml.fabric") {
    answer.fabric_pending = true;
  } else if (line.word == "nvml.device_error") {
    if (!answer.nvml_device_error) answer.nvml_device_error = parse_integer(line.field(1));
  } else if (line.word == "nvml.device") {
    NvidiaDevice device = read_device(line);
    device.uuid = sanitise(line.field(4));
    device.pci_id = line.field(6);
    device.mig = line.field(7) == "1";
    if (device.mig) device.mig_instances = parse_integer(line.field(8));
    answer.nvml_devices.push_back(std::move(device));
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool is_driver_version(std::string_view text) {
  if (text.empty() || !is_digit(text.front()) || !is_digit(text.back())) return false;
  if (text.size() > 32 || text.find('.') == std::string_view::npos) return false;
  return std::ranges::all_of(text, [](char c) { return is_digit(c) || c == '.'; });
}

bool is_capability(std::string_view text) {
  const std::size_t dot = text.find('.');
  const auto number = [](std::string_view part) {
    return !part.empty() && part.size() <= 2 && std::ranges::all_of(part, is_digit);
  };
  return dot != std::string_view::npos && number(text.substr(0, dot)) &&
         number(text.substr(dot + 1)) && text.front() != '0';
}

std::string parse_nvidia_proc_version(std::string_view text) {
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 …": the first word of
  // the line that looks like one; the word before may be "Module" or "for x86_64" (open modules).
  std::string_view line = line_with(text, "NVRM version:");
  while (!line.empty()) {
    const std::string_view word = take_entry_word(line);
    if (is_driver_version(word)) return std::string(word);
  }
  return {};
}

std::string parse_nvidia_model(std::string_view text) {
  return sanitise(trim(line_with(text, "Model:")));
}

std::string parse_library_version(std::string_view file) {
  const std::size_t at = file.rfind(".so.");
  if (at == std::string_view::npos) return {};
  const std::string_view version = file.substr(at + 4);
  // Jetson's is "libcuda.so.1.1", which is not a driver version.
  if (!is_driver_version(version) || version.find('.') < 3) return {};
  return std::string(version);
}

std::optional<std::string> render_cuda_version(std::int64_t version) {
  if (version < 1000 || version > 99990) return std::nullopt;
  return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
}

NvidiaAnswer read_nvidia_lines(const std::vector<DriverLine>& lines) {
  NvidiaAnswer answer;
  for (const DriverLine& line : lines) {
    if (line.word == "step") {
      answer.step = line.field(0);
    } else if (line.word == "library.refused") {
      answer.refused = line.field(0);
    } else if (line.word == "cuda.symbol" || line.word == "nvml.symbol") {
      answer.missing_symbols.emplace_back(line.field(0));
    } else if (!read_cuda_line(answer, line)) {
      read_nvml_line(answer, line);
    }
  }
  return answer;
}

}  // namespace axle::detect
