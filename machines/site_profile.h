#pragma once
// The profile that an administrator records once, as root, for every program on the machine: its
// recording is used instead of probing as long as it matches the machine.

#include <map>
#include <optional>
#include <string>

#include "detect/record/recording.h"
#include "foundation/report/error.h"
#include "machines/profile.h"

namespace axle::machines {

inline constexpr const char* site_profile_path = "/etc/axle/machine.json";

/// What distinguishes one machine from another, with display names: the processor and its features,
/// the accelerators on the bus with their kernel drivers, the device nodes, the versions of the
/// kernel modules. Costs some CPUID leaves, one small file per PCI device and the listing of /dev.
using MachineTraits = std::map<std::string, std::string>;
[[nodiscard]] MachineTraits read_traits(detect::Host& host);

/// The allowed owner of a site profile.
enum class SiteOwner : std::uint8_t { root, root_or_caller };

/// The profile at `path` if it can be trusted and matches the machine `here`; nullopt if the file
/// does not exist. Errors: io (it is not a regular file, belongs to another user, or others may
/// write to it), malformed and unsupported (parse_profile), mismatch (it states facts, the machine
/// has changed, this process may not open a device node that was accessible then, or its mask
/// contains a GPU's id: what differs).
[[nodiscard]] Result<std::optional<Profile>> read_site_profile(const std::string& path,
                                                               SiteOwner owner, detect::Host& here);

/// A site profile's recording, except for what belongs to the process and not to the machine: its
/// environment (masks), its access to the device nodes, its permissions and its C library.
class SiteHost : public detect::ReplayHost {
 public:
  /// Both must outlive this.
  SiteHost(const detect::Recording& recording, detect::Host& here)
      : ReplayHost(recording), here_(here) {}

  std::optional<std::uint64_t> xcomp(detect::XcompQuery query) override {
    return here_.xcomp(query);
  }
  detect::SystemName system_name() override { return here_.system_name(); }
  unsigned online_cpus() override { return here_.online_cpus(); }
  std::string glibc_version() override { return here_.glibc_version(); }
  bool accessible(const std::string& path, detect::Access access) override;
  std::optional<std::string> environment(const std::string& variable) override;

 private:
  detect::Host& here_;
};

}  // namespace axle::machines
