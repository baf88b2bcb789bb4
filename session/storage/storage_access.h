#pragma once
// A storage of S3's kind, with the keys, the region and the server that the user's other tools
// would take for it; or a folder of a WebDAV server, with the login for it.

#include <memory>
#include <string>

#include "index/storage/stored_place.h"
#include "session/command_failure.h"
#include "session/session.h"
#include "session/settings/settings.h"

namespace axle::session {

/// `named`: "s3://BUCKET/PREFIX". Keys: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
/// AWS_SESSION_TOKEN, else the profile's (aws_profile.h). Or "https://HOST/FOLDER", whose login is
/// that in it, else that of the netrc file, else the keyring's for its user name. Time limits,
/// proxies and certificates are those of `settings`, logins for indexes are not. `goes_on`: as
/// make_s3_store. Errors: usage (nothing says what is needed, or it is not valid, or it would be
/// sent without encryption).
[[nodiscard]] Outcome<std::unique_ptr<index::StoredPlace>> open_storage(const std::string& named,
                                                                        const Settings& settings,
                                                                        bool goes_on);

/// Where files arrive that go to the storage `named`: in the cache, else among temporary files.
[[nodiscard]] std::string arriving_folder(const Session& session, const std::string& named);

}  // namespace axle::session
