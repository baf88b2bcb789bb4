#pragma once
// What the fuzzers of sealed records share: paths that must stay inside, and a hash that fits.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "installer/sealed_fields.h"

namespace axle::fuzz {

/// Ends the program if `path` could lead out of an environment, or into Axle's own folder there.
inline void require_inside(std::string_view path) {
  if (path.starts_with('/')) std::abort();
  if (("/" + std::string(path) + "/").find("/../") != std::string::npos) std::abort();
  if (path.starts_with(".axle/") || path == ".axle") std::abort();
}

/// `check` gets the bytes as they are, and with the seal that makes them a whole record.
template <class Check>
void check_sealed(const std::uint8_t* data, std::size_t size, Check check,
                  installer::Seal seal = installer::Seal::sha256) {
  std::string text(reinterpret_cast<const char*>(data), size);
  check(text);
  installer::seal_fields(text, seal);
  check(text);
}

}  // namespace axle::fuzz
