#pragma once
// What the trusted programs and shared objects answer, for commands that show it.

#include <string>
#include <vector>

#include "providers/plugins/plugin.h"
#include "providers/provider.h"
#include "session/plugins/provider_settings.h"
#include "session/session.h"

namespace axle::session {

/// A trusted program or shared object, asked where it may be.
struct AskedFile {
  const TrustedFile* file = nullptr;
  std::string problem = {};  ///< why it gives nothing; empty: it does
  std::string hint = {};
  bool trusted = true;  ///< it is the file that was trusted
  providers::Features supported = {};
  providers::Features all = {};  ///< only where one namespace was asked for
  plugins::PluginNotes notes = {};
};

/// Those of `settings`, which must outlive the answers; of one namespace, or all where `ns` is
/// empty. With --for nobody is asked.
[[nodiscard]] std::vector<AskedFile> ask_files(const ProviderSettings& settings, Session& session,
                                               const std::string& ns);

}  // namespace axle::session
