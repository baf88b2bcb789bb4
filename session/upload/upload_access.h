#pragma once
// Where an index takes uploads, and the login for it.

#include <memory>

#include "index/http/transport.h"
#include "index/upload/index_upload.h"
#include "session/command_failure.h"
#include "session/session.h"
#include "session/settings/settings.h"

namespace axle::session {

struct UploadAccess {
  index::UploadTarget target;
  std::unique_ptr<index::Transport> transport;
};

/// The address: --repository-url, UV_PUBLISH_URL, TWINE_REPOSITORY_URL. The login, the first that
/// there is: the address's own, UV_PUBLISH_TOKEN, --username or UV_PUBLISH_USERNAME or
/// TWINE_USERNAME with UV_PUBLISH_PASSWORD or TWINE_PASSWORD, the netrc file, the keyring
/// (--keyring-provider). Errors: usage (no address, or none that can be used), unsupported (a login
/// over plain http to another machine).
[[nodiscard]] Outcome<UploadAccess> open_upload(const Session& session, const Settings& settings);

}  // namespace axle::session
