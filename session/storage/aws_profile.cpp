#include "session/storage/aws_profile.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "session/settings/configuration_files.h"
#include "session/settings/layer.h"
#include "session/variables.h"

namespace axle::session {

namespace {

/// Where a file is: `variable_name`, else below the home folder; "" if that is not known.
std::string place_of(std::string_view variable_name, std::string_view file) {
  const std::string named = variable(variable_name);
  if (!named.empty()) return home_expanded(named);
  const std::string home = variable("HOME");
  return home.empty() ? std::string() : fmt::format("{}/.aws/{}", home, file);
}

Outcome<PipSections> read_sections(const std::string& path) {
  if (path.empty()) return {};
  auto text = read_configuration(path);
  if (!text) return std::unexpected(std::move(text.error()));
  if (!*text) return {};
  auto sections = parse_config_of("AWS configuration", "the AWS CLI", **text, path);
  if (!sections) return misconfigured(std::move(sections.error()));
  return std::move(*sections);
}

/// "profile x", also with quotes; `default` may stand alone.
const PipSections::mapped_type* find_profile(const PipSections& sections, const std::string& name) {
  for (const std::string& section :
       {"profile " + name, fmt::format("profile \"{}\"", name), name == "default" ? name : ""}) {
    if (const auto found = sections.find(section); found != sections.end()) return &found->second;
  }
  return nullptr;
}

void take(const PipSections::mapped_type& section, std::string_view key, std::string& value) {
  if (const auto found = section.find(key); value.empty() && found != section.end())
    value = found->second.value;
}

/// The AWS CLI's "sourcing credentials", without what the files themselves say.
constexpr std::array other_sources = {
    "sso-session",        "sso-start-url",           "role-arn",
    "credential-process", "web-identity-token-file", "login-session"};

void take_all(const PipSections::mapped_type& section, AwsProfile& profile) {
  // The three belong together.
  if (profile.key_id.empty() && profile.secret.empty()) {
    take(section, "aws-access-key-id", profile.key_id);
    take(section, "aws-secret-access-key", profile.secret);
    take(section, "aws-session-token", profile.token);
  }
  take(section, "region", profile.region);
  take(section, "endpoint-url", profile.endpoint);
  for (const std::string_view key : other_sources) {
    if (section.contains(key) && profile.other_source.empty()) profile.other_source = key;
  }
}

}  // namespace

Outcome<AwsProfile> read_aws_profile() {
  const std::string named = variable("AWS_PROFILE");
  AwsProfile profile;
  profile.name = named.empty() ? "default" : named;
  const std::string keys_path = place_of("AWS_SHARED_CREDENTIALS_FILE", "credentials");
  const std::string config_path = place_of("AWS_CONFIG_FILE", "config");
  const auto keys = read_sections(keys_path);
  if (!keys) return std::unexpected(keys.error());
  const auto config = read_sections(config_path);
  if (!config) return std::unexpected(config.error());
  const auto own = keys->find(profile.name);
  const auto* const settings = find_profile(*config, profile.name);
  if (own != keys->end()) take_all(own->second, profile);
  if (settings != nullptr) take_all(*settings, profile);
  if (!named.empty() && own == keys->end() && settings == nullptr) {
    return misused(fmt::format("AWS_PROFILE names the profile `{}`, which neither {} nor {} has",
                               named, keys_path, config_path),
                   "correct it, or unset AWS_PROFILE");
  }
  return profile;
}

}  // namespace axle::session
