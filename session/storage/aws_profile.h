#pragma once
// A profile in the files of the AWS tools: ~/.aws/credentials and ~/.aws/config.

#include <string>

#include "session/command_failure.h"

namespace axle::session {

/// What one profile says; empty: nothing.
struct AwsProfile {
  std::string name;
  std::string key_id;
  std::string secret;
  std::string token;
  std::string region;
  std::string endpoint;
  /// A setting by which the AWS tools would get keys from elsewhere: "sso_session".
  std::string other_source;
};

/// AWS_PROFILE, else `default`, which need not be there. The keys in the credentials file come
/// before those in the other. Errors: usage (a file that is not valid or cannot be read, a profile
/// that neither has).
[[nodiscard]] Outcome<AwsProfile> read_aws_profile();

}  // namespace axle::session
