#pragma once
// Facts that no machine has at once; each by itself may be possible (machines/possible_facts.h).

#include <optional>
#include <string>
#include <string_view>

#include "detect/machine.h"
#include "detect/os/macos.h"

namespace axle::machines {

struct Contradiction {
  std::string path;     ///< of one of the facts in a profile: "libc.family"
  std::string message;  ///< "Windows has no glibc"
  std::string nearest;  ///< what can be instead, as --for takes it: "macos:11"
};

/// Of a system, its processor, C library, GPUs and drivers. Only for facts that are stated: what is
/// found on a machine may be broken, or newer than this program.
[[nodiscard]] std::optional<Contradiction> find_contradiction(const detect::Machine& machine);

/// The macOS that the first Macs with the processor came with, before which they run none, by the
/// processor's name: "Apple M4 Max"; nullopt: not known.
[[nodiscard]] std::optional<detect::MacosVersion> first_macos_on(std::string_view processor);

/// Of a Mac that has `own` and is stated to have `stated`: an update is none, but an older one is
/// another Mac, or another name. Since macOS 11 the minor version does not count.
[[nodiscard]] std::optional<Contradiction> find_older_macos(detect::MacosVersion own,
                                                            detect::MacosVersion stated);

/// "nearest that can be: linux with it, or no C library"
[[nodiscard]] std::string render_nearest(const Contradiction& contradiction);

}  // namespace axle::machines
