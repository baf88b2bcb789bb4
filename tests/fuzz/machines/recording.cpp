// Recordings, replayed: whatever a profile makes the machine answer, detection reads it, the
// providers speak of it, the evidence is written, and nothing falls.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "detect/drivers/driver_fingerprint.h"
#include "detect/probe.h"
#include "detect/record/scrub.h"
#include "machines/evidence.h"
#include "machines/profile.h"
#include "machines/profile_schema.h"
#include "machines/site_profile.h"
#include "providers/provider.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle;  // NOLINT(google-build-using-namespace): a fuzz target is one function
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto profile = machines::parse_profile(text, "fuzz");
  if (!profile || !profile->recording) return 0;
  detect::ReplayHost host(*profile->recording);
  detect::RecordingHost asked(host);
  const detect::Machine machine = detect::probe_machine(asked);
  for (const providers::Provider& provider : providers::builtin_providers()) {
    (void)provider.supported(machine, {});
    (void)machines::find_evidence(provider.ns, asked.questions());
  }
  (void)machines::read_traits(host);
  constexpr std::array vendors{detect::GpuVendor::nvidia, detect::GpuVendor::amd,
                               detect::GpuVendor::intel};
  (void)detect::fingerprint_drivers(host, vendors, "fuzz");
  const detect::Recording clean =
      detect::scrub(asked.recording(), {"host", {"user"}, "/home/user"});
  detect::ReplayHost again(clean);
  (void)detect::probe_machine(again);
  // What is written can be read.
  const std::string written =
      machines::render_profile({{}, {"captured", "fuzz", "2026-11-21"}, clean});
  if (written.size() <= machines::largest_profile && !machines::parse_profile(written, "written"))
    std::abort();
  return 0;
}
