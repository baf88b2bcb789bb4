#pragma once
// The answers of trusted programs and shared objects, for commands that show them.

#include <string>
#include <vector>

#include "providers/plugins/plugin.h"
#include "providers/provider.h"
#include "session/plugins/provider_settings.h"
#include "session/session.h"

namespace axle::session {

/// A trusted program or shared object, run if possible.
struct AskedFile {
  const TrustedFile* file = nullptr;
  std::string problem = {};  ///< why it gives no answer; empty: it does
  std::string hint = {};
  bool trusted = true;  ///< it is unchanged since it was trusted
  providers::Features supported = {};
  providers::Features all = {};  ///< only if one namespace was requested
  plugins::PluginNotes notes = {};
};

/// Those of `settings`, which must outlive the answers; for one namespace, or all if `ns` is empty.
/// With --for none is run.
[[nodiscard]] std::vector<AskedFile> ask_files(const ProviderSettings& settings, Session& session,
                                               const std::string& ns);

}  // namespace axle::session
