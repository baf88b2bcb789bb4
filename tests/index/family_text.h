#pragma once
// A family file of tests: small, with every key.

#include <string>

namespace axle::testing {

inline const std::string small_family = R"(schema = 1
name = "acme"
url = "https://acme.test/whl"
label-in = "version"
members = ["acme", "acme-vision", "acme-audio"]
unlabelled = ["acme-rocm-tools"]
fallback = ["cpu"]
ended = { acme-audio = "2.0" }
date = "2026-11-20"

[sources]
CI = "acme/acme wheels.yaml @ 1a2b3c4"

[devices]
bmg = ["20.1.0", "20.2.0"]

[[labels]]
name = "cu130"
vendor = "nvidia"
toolkit = "13.0"
cuda = "13.0"
driver = "580"
source = ["CI"]

[[labels]]
name = "cu126"
vendor = "nvidia"
toolkit = "12.6"
cuda = "12.0"
driver = "525.60.13"
source = ["CI"]

[[labels]]
name = "rocm6.4"
vendor = "amd"
toolkit = "6.4"
source = ["CI"]

[[labels]]
name = "xpu"
vendor = "intel"
source = ["CI"]

[[labels]]
name = "cpu"
source = ["CI"]

[[releases]]
version = "2.1"
date = "2026-10"
source = ["CI"]
goes-with = { acme-vision = "==0.4.*", acme-audio = "==2.0.*" }
default-index = { linux_x86_64 = "cu130" }
old-cxx-abi = { linux_x86_64 = ["xpu"] }
builds = [
  { label = "cpu", platform = "linux_x86_64", source = ["CI"], confidence = "high" },
  { label = "cu130", platform = "linux_x86_64", code = ["7.5", "9.0", "12.0"], source = ["CI"], confidence = "high" },
  { label = "xpu", platform = "linux_x86_64", code = ["bmg"], source = ["CI"], confidence = "low" },
]

[[releases]]
version = "2.0"
date = "2026-07"
source = ["CI"]
goes-with = { acme-vision = "==0.3.*", acme-audio = "==2.0.*" }
default-index = { linux_x86_64 = "cu126" }
builds = [
  { label = "cpu", platform = "linux_x86_64", source = ["CI"], confidence = "high" },
  { label = "cu130", platform = "linux_x86_64", code = "unknown", source = ["CI"], confidence = "unknown" },
  { label = "cu126", platform = "linux_x86_64", code = ["6.0", "9.0"], ptx = ["9.0"], source = ["CI"], confidence = "measured", note = "seen" },
  { label = "rocm6.4", platform = "linux_x86_64", code = ["gfx90a", "gfx942"], source = ["CI"], confidence = "high" },
]
)";

/// `small_family` with the first `from` replaced by `to`.
inline std::string small_family_with(const std::string& from, const std::string& to) {
  std::string text = small_family;
  text.replace(text.find(from), from.size(), to);
  return text;
}

}  // namespace axle::testing
