#include "detect/intel/facts.h"

#include <limits>
#include <span>

namespace axle::detect {
namespace {

// PCI device ids and GMDID versions as Intel's compute runtime publishes them (devices_base.inl).
constexpr IntelModel models[] = {
    {0x0B69, 0x0B6E, "Data Center GPU Max", "12.60.7"},
    {0x0BD0, 0x0BDB, "Data Center GPU Max", "12.60.7"},
    {0x4F80, 0x4F84, "Arc A-Series", "12.55.8"},
    {0x4F85, 0x4F86, "Arc A-Series", "12.57.0"},
    {0x4F87, 0x4F88, "Arc A-Series", "12.56.5"},
    {0x5690, 0x5692, "Arc A-Series", "12.55.8"},
    {0x5693, 0x5695, "Arc A-Series", "12.56.5"},
    {0x5696, 0x5697, "Arc A-Series", "12.57.0"},
    {0x56A0, 0x56A2, "Arc A-Series", "12.55.8"},
    {0x56A3, 0x56A4, "Arc A-Series", "12.57.0"},
    {0x56A5, 0x56A6, "Arc A-Series", "12.56.5"},
    {0x56B0, 0x56B1, "Arc Pro A-Series", "12.56.5"},
    {0x56B2, 0x56B3, "Arc Pro A-Series", "12.57.0"},
    {0x56BA, 0x56BD, "Arc A-Series", "12.56.5"},
    {0x56BE, 0x56BF, "Arc A-Series", "12.55.8"},
    {0x56C0, 0x56C0, "Data Center GPU Flex 170", "12.55.8"},
    {0x56C1, 0x56C1, "Data Center GPU Flex 140", "12.56.5"},
    {0x56C2, 0x56C2, "Data Center GPU Flex 170", "12.55.8"},
    {0x6420, 0x6420, "Arc Graphics (Lunar Lake)", "20.4.4"},
    {0x64A0, 0x64A0, "Arc Graphics (Lunar Lake)", "20.4.4"},
    {0x64B0, 0x64B0, "Arc Graphics (Lunar Lake)", "20.4.4"},
    {0x674C, 0x6750, "Crescent Island", "35.11.0"},
    {0x7D40, 0x7D40, "Graphics (Meteor Lake)", "12.70.4"},
    {0x7D41, 0x7D41, "Graphics (Arrow Lake)", "12.70.4"},
    {0x7D45, 0x7D45, "Graphics (Meteor Lake)", "12.70.4"},
    {0x7D51, 0x7D51, "Arc Graphics (Arrow Lake)", "12.74.4"},
    {0x7D55, 0x7D55, "Arc Graphics (Meteor Lake)", "12.71.4"},
    {0x7D67, 0x7D67, "Graphics (Arrow Lake)", "12.70.4"},
    {0x7DD1, 0x7DD1, "Arc Graphics (Arrow Lake)", "12.74.4"},
    {0x7DD5, 0x7DD5, "Arc Graphics (Meteor Lake)", "12.71.4"},
    {0xB080, 0xB087, "Arc Graphics (Panther Lake)", "30.0.4"},
    {0xB08F, 0xB090, "Arc Graphics (Panther Lake)", "30.0.4"},
    {0xB0A0, 0xB0A0, "Arc Graphics (Panther Lake)", "30.0.4"},
    {0xB0B0, 0xB0B0, "Arc Graphics (Panther Lake)", "30.0.4"},
    {0xD740, 0xD745, "Graphics (Nova Lake)", "30.4.4"},
    {0xD74A, 0xD75F, "Graphics (Nova Lake)", "35.10.4"},
    {0xE202, 0xE202, "Arc B-Series", "20.1.0"},
    {0xE209, 0xE20D, "Arc B-Series", "20.1.0"},
    {0xE210, 0xE216, "Arc Pro B-Series", "20.1.0"},
    {0xE220, 0xE223, "Arc Pro B-Series", "20.2.0"},
    {0xFD80, 0xFD81, "Graphics (Wildcat Lake)", "30.3.1"},
};

constexpr IntelModel older_models[] = {
    {0x1902, 0x193D, "HD Graphics (Skylake)", ""},
    {0x3E90, 0x3EA9, "UHD Graphics (Coffee Lake)", ""},
    {0x4680, 0x4693, "UHD Graphics (Alder Lake-S)", "12.2.0"},
    {0x4626, 0x462A, "Iris Xe Graphics (Alder Lake-P)", "12.3.0"},
    {0x46A0, 0x46C3, "Iris Xe Graphics (Alder Lake-P)", "12.3.0"},
    {0x46D0, 0x46D4, "UHD Graphics (Alder Lake-N)", "12.4.0"},
    {0x4905, 0x4909, "Iris Xe MAX (DG1)", "12.10.0"},
    {0x4C80, 0x4C9A, "UHD Graphics (Rocket Lake)", "12.1.0"},
    {0x5902, 0x593B, "HD Graphics (Kaby Lake)", ""},
    {0x8A50, 0x8A71, "Iris Plus Graphics (Ice Lake)", ""},
    {0x9A40, 0x9AF8, "Iris Xe Graphics (Tiger Lake)", "12.0.0"},
    {0x9B21, 0x9BF6, "UHD Graphics (Comet Lake)", ""},
    {0xA720, 0xA721, "UHD Graphics (Raptor Lake-P)", "12.3.0"},
    {0xA780, 0xA78B, "UHD Graphics (Raptor Lake-S)", "12.2.0"},
    {0xA7A0, 0xA7AD, "Iris Xe Graphics (Raptor Lake-P)", "12.3.0"},
};

const IntelModel* find_in(std::span<const IntelModel> rows, std::uint32_t device) {
  for (const IntelModel& model : rows) {
    if (device >= model.first && device <= model.last) return &model;
  }
  return nullptr;
}

std::uint32_t parse_u32(std::string_view text) {
  const auto value = parse_integer(text);
  if (!value || *value < 0 || *value > std::numeric_limits<std::uint32_t>::max()) return 0;
  return static_cast<std::uint32_t>(*value);
}

LevelZeroDevice read_device(const DriverLine& line) {
  LevelZeroDevice device;
  device.vendor_id = parse_u32(line.field(1));
  device.device_id = parse_u32(line.field(2));
  device.ip = parse_u32(line.field(3));
  device.pci_address = normalise_pci_address(line.field(4));
  const std::int64_t memory = parse_integer(line.field(5)).value_or(0);
  device.memory = memory > 0 ? static_cast<std::uint64_t>(memory) : 0;
  device.integrated = line.field(6) == "1";
  device.name = sanitise(line.field(7));
  return device;
}

}  // namespace

std::string render_device_ip(std::uint32_t ip) {
  if (ip == 0) return {};
  return std::to_string(ip >> 22U) + '.' + std::to_string((ip >> 14U) & 0xFFU) + '.' +
         std::to_string(ip & 0x3FU);
}

const IntelModel* find_intel_model(std::uint32_t device) { return find_in(models, device); }

const IntelModel* find_older_intel_model(std::uint32_t device) {
  return find_in(older_models, device);
}

bool is_xpu_ip(std::uint32_t ip) {
  constexpr std::uint32_t xe_hpg = (12U << 22U) | (55U << 14U);
  return ip >= xe_hpg;
}

std::string render_level_zero_version(std::uint32_t version) {
  return std::to_string(version >> 16U) + '.' + std::to_string(version & 0xFFFFU);
}

std::string render_level_zero_driver(std::uint32_t version) {
  return std::to_string(version >> 24U) + '.' + std::to_string((version >> 16U) & 0xFFU) + '.' +
         std::to_string(version & 0xFFFFU);
}

LevelZeroAnswer read_level_zero_lines(const std::vector<DriverLine>& lines) {
  LevelZeroAnswer answer;
  for (const DriverLine& line : lines) {
    if (line.word == "step") {
      answer.step = line.field(0);
    } else if (line.word == "library.refused") {
      answer.refused = line.field(0);
    } else if (line.word == "ze.missing") {
      answer.missing = line.field(0);
    } else if (line.word == "ze.init") {
      answer.init = parse_integer(line.field(0));
    } else if (line.word == "ze.device_error") {
      answer.device_error = parse_integer(line.field(0));
    } else if (line.word == "ze.api") {
      answer.api_version = render_level_zero_version(parse_u32(line.field(0)));
    } else if (line.word == "ze.driver") {
      answer.driver_version = render_level_zero_driver(parse_u32(line.field(0)));
    } else if (line.word == "ze.symbol") {
      answer.missing_symbols.emplace_back(line.field(0));
    } else if (line.word == "ze.device") {
      answer.devices.push_back(read_device(line));
    }
  }
  return answer;
}

}  // namespace axle::detect
