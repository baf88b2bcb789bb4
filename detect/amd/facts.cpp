#include "detect/amd/facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "detect/text_pieces.h"

namespace axle::detect {
namespace {

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find_first_of(" \t\n\r"));
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::uint64_t* member_of(KfdNode& node, std::string_view key) {
  if (key == "simd_count") return &node.simd_count;
  if (key == "vendor_id") return &node.vendor_id;
  if (key == "device_id") return &node.device_id;
  if (key == "location_id") return &node.location_id;
  if (key == "domain") return &node.domain;
  if (key == "drm_render_minor") return &node.drm_render_minor;
  if (key == "gfx_target_version") return &node.gfx_target_version;
  if (key == "capability") return &node.capability;
  if (key == "unique_id") return &node.unique_id;
  return nullptr;
}

/// The first two numbers of "6.4.0-47"; empty if there are fewer.
std::string major_minor(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return {};
  const auto major = parse_unsigned(text.substr(0, dot));
  text.remove_prefix(dot + 1);
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
  const auto minor = parse_unsigned(digits);
  if (!major || !minor || *major > 999 || *minor > 999) return {};
  return std::to_string(*major) + '.' + std::to_string(*minor);
}

std::string compose_gfx(std::uint64_t major, std::uint64_t minor, std::uint64_t stepping) {
  if (major == 0 || major > 99 || minor > 15 || stepping > 15) return {};
  std::array<char, 16> text;
  std::snprintf(text.data(), text.size(), "gfx%u%x%x", static_cast<unsigned>(major),
                static_cast<unsigned>(minor), static_cast<unsigned>(stepping));
  return text.data();
}

}  // namespace

KfdNode parse_kfd_properties(std::string_view text) {
  KfdNode node;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    std::uint64_t* const member = member_of(node, line.substr(0, space));
    const auto value = parse_unsigned(first_word(line.substr(space + 1)));
    if (member != nullptr && value) *member = *value;
  }
  return node;
}

std::string pci_address_of(const KfdNode& node) {
  if (node.location_id > 0xFFFF || node.domain > 0xFFFFFFFF) return {};
  std::array<char, 32> text;
  const auto location = static_cast<unsigned>(node.location_id);
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", static_cast<unsigned>(node.domain),
                location >> 8U, (location >> 3U) & 0x1FU, location & 7U);
  return text.data();
}

std::string render_gfx(std::uint64_t gfx_target_version) {
  return compose_gfx(gfx_target_version / 10000, gfx_target_version / 100 % 100,
                     gfx_target_version % 100);
}

std::string render_target_id(const KfdNode& node) {
  // hsakmttypes.h, HSA_CAPABILITY: SRAM_EDCSupport. LLVM's AMDGPU guide lists the processors with
  // the sramecc feature.
  constexpr std::uint64_t sram_ecc = 1U << 26U;
  constexpr std::string_view with_sramecc[] = {"gfx906", "gfx908", "gfx90a",
                                               "gfx940", "gfx941", "gfx942"};
  const std::string gfx = render_gfx(node.gfx_target_version);
  if (std::ranges::find(with_sramecc, gfx) == std::end(with_sramecc)) return {};
  return gfx + ((node.capability & sram_ecc) != 0 ? ":sramecc+" : ":sramecc-");
}

bool is_integrated_gfx(std::string_view gfx) {
  constexpr std::string_view units[] = {"gfx801",  "gfx902",  "gfx909",  "gfx90c",  "gfx1013",
                                        "gfx1033", "gfx1035", "gfx1036", "gfx1037", "gfx1103",
                                        "gfx1150", "gfx1151", "gfx1152", "gfx1153"};
  return std::ranges::find(units, gfx) != std::end(units);
}

std::string render_amd_uuid(std::uint64_t unique_id) {
  if (unique_id == 0) return {};
  std::array<char, 24> text;
  std::snprintf(text.data(), text.size(), "GPU-%016llx",
                static_cast<unsigned long long>(unique_id));
  return text.data();
}

std::string parse_gfx_override(std::string_view text) {
  text = first_word(text);
  const std::size_t first = text.find('.');
  if (first == std::string_view::npos) return {};
  const std::size_t second = text.find('.', first + 1);
  if (second == std::string_view::npos) return {};
  const auto major = parse_unsigned(text.substr(0, first));
  const auto minor = parse_unsigned(text.substr(first + 1, second - first - 1));
  const auto stepping = parse_unsigned(text.substr(second + 1));
  if (!major || !minor || !stepping) return {};
  return compose_gfx(*major, *minor, *stepping);
}

std::string parse_rocm_version(std::string_view text) { return major_minor(first_word(text)); }

std::string parse_hip_library_name(std::string_view file) {
  constexpr std::string_view suffix = ".so.";
  const std::size_t at = file.rfind(suffix);
  return at == std::string_view::npos ? "" : major_minor(file.substr(at + suffix.size()));
}

SmiAnswer read_smi_lines(const std::vector<DriverLine>& lines) {
  SmiAnswer answer;
  for (const DriverLine& line : lines) {
    if (line.word == "step") {
      answer.step = line.field(0);
    } else if (line.word == "library.refused") {
      answer.refused = line.field(0);
    } else if (line.word == "smi.init") {
      answer.init = parse_integer(line.field(0));
    } else if (line.word == "smi.driver") {
      answer.driver_version = sanitise(line.field(0));
    } else if (line.word == "smi.device") {
      answer.devices.push_back({normalise_pci_address(line.field(1)),
                                parse_unsigned(line.field(2)).value_or(0),
                                sanitise(line.field(3))});
    }
  }
  return answer;
}

}  // namespace axle::detect
