#include "session/storage/storage_access.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "foundation/text/ascii.h"
#include "foundation/text/quote.h"
#include "index/http/credentials.h"
#include "index/http/redaction.h"
#include "index/http/transport.h"
#include "index/http/url.h"
#include "index/storage/dav_access.h"
#include "index/storage/dav_store.h"
#include "index/storage/s3_store.h"
#include "index/storage/storage_address.h"
#include "session/index_access.h"
#include "session/storage/aws_profile.h"
#include "session/variables.h"
#include "wheel/hash/sha256.h"

namespace axle::session {

namespace {

constexpr const char* usual_region = "us-east-1";

std::string first_of(std::string_view one, std::string_view other, const std::string& otherwise) {
  std::string value = variable(one);
  if (value.empty()) value = variable(other);
  return value.empty() ? otherwise : value;
}

/// It stands in a header line.
bool is_visible(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

Outcome<index::StorageKeys> find_keys(const AwsProfile& profile, const std::string& named) {
  index::StorageKeys keys{variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"), {}};
  const bool of_variables = !keys.id.empty() || !keys.secret.empty();
  if (of_variables) {
    keys.token = variable("AWS_SESSION_TOKEN");
  } else {
    keys = {profile.key_id, profile.secret, profile.token};
  }
  const std::string place =
      of_variables ? "the environment" : fmt::format("the AWS profile `{}`", profile.name);
  if (keys.id.empty() != keys.secret.empty()) {
    return misused(fmt::format("{} has one of the two keys for {}, but no {}", place, named,
                               keys.id.empty() ? "access key id" : "secret access key"),
                   "set both: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or aws_access_key_id "
                   "and aws_secret_access_key in ~/.aws/credentials");
  }
  if (keys.id.empty() && !profile.other_source.empty()) {
    std::string setting = profile.other_source;
    std::ranges::replace(setting, '-', '_');
    return misused(fmt::format("{} gets its keys by {}, which Axle does not do", place, setting),
                   "let the AWS CLI do it, and set what it prints: aws configure "
                   "export-credentials --format env");
  }
  if (keys.id.empty()) {
    return misused(fmt::format("no keys for {}", named),
                   "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile in "
                   "~/.aws/credentials (AWS_PROFILE)");
  }
  if (!is_visible(keys.id) || keys.id.find_first_of("/,=") != std::string::npos ||
      !is_visible(keys.secret) || !is_visible(keys.token)) {
    return misused(fmt::format("the keys for {}, from {}, have blanks or other characters that no "
                               "key has",
                               named, place),
                   "copy them again");
  }
  return keys;
}

Outcome<std::string> find_region(const AwsProfile& profile) {
  std::string region = first_of("AWS_REGION", "AWS_DEFAULT_REGION", profile.region);
  if (region.empty()) region = usual_region;
  const bool plain = region.size() <= 63 && std::ranges::all_of(region, [](char c) {
                       return text::is_ascii_alnum(c) || c == '-';
                     });
  if (plain) return region;
  return misused(fmt::format("{} is no region of a storage", text::quote(region)),
                 "correct AWS_REGION, AWS_DEFAULT_REGION or the profile's region");
}

/// What is not encrypted stays on this machine, or goes where the user says.
void keep_private(index::TransportOptions& options, const std::string& url,
                  const Settings& settings) {
  options.netrc.clear();
  options.logins.clear();
  options.keyring = nullptr;
  if (!index::is_trusted_host(url, settings.trusted_hosts)) options.http_proxy.clear();
}

Outcome<std::unique_ptr<index::StoredPlace>> open_dav(const std::string& named,
                                                      const Settings& settings) {
  auto url = index::parse_dav_address(named, settings.trusted_hosts);
  if (!url) return misused(url.error().message, url.error().hint);
  auto options = transport_options(settings);
  if (!options) return std::unexpected(std::move(options.error()));
  index::CredentialStore logins(options->netrc, {}, options->keyring);
  logins.remember(named);
  index::DavAccess access{std::move(*url), logins.find(named)};
  if (!access.login.user.empty() && access.login.password.empty()) {
    auto kept = logins.ask_keyring(named);
    if (!kept) return failed(std::move(kept.error()));
    if (*kept) access.login = std::move(**kept);
  }
  if (access.login.user.find(':') != std::string::npos) {
    return misused(
        fmt::format("the user name for {} has a colon, which Basic authentication "
                    "cannot send",
                    index::redact_url(named)));
  }
  keep_private(*options, access.url, settings);
  return index::make_stored_place(
      index::make_dav_store(std::move(access), index::make_transport(std::move(*options))));
}

}  // namespace

std::string arriving_folder(const Session& session, const std::string& named) {
  constexpr std::size_t enough_digits = 32;
  const std::string digits = wheel::render_hex(wheel::sha256(named)).substr(0, enough_digits);
  const std::string cache = session.cache_folder();
  if (!cache.empty()) return fmt::format("{}/mirrors/work-{}", cache, digits);
  const std::string temporary = variable("TMPDIR");
  return fmt::format("{}/axle-mirror-{}", temporary.empty() ? "/tmp" : temporary, digits);
}

Outcome<std::unique_ptr<index::StoredPlace>> open_storage(const std::string& named,
                                                          const Settings& settings, bool goes_on) {
  if (index::is_http_url(named)) return open_dav(named, settings);
  auto address = index::parse_storage_address(named);
  if (!address) return misused(address.error().message, address.error().hint);
  const auto profile = read_aws_profile();
  if (!profile) return std::unexpected(profile.error());
  auto keys = find_keys(*profile, address->text());
  if (!keys) return std::unexpected(std::move(keys.error()));
  auto region = find_region(*profile);
  if (!region) return std::unexpected(std::move(region.error()));
  index::StorageAccess access;
  access.address = std::move(*address);
  access.endpoint = first_of("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", profile->endpoint);
  access.region = std::move(*region);
  access.keys = std::move(*keys);
  if (auto checked = index::check_endpoint(access.endpoint, settings.trusted_hosts); !checked)
    return misused(checked.error().message, checked.error().hint);
  auto options = transport_options(settings);
  if (!options) return std::unexpected(std::move(options.error()));
  // Its requests are signed; what indexes get is none of its business.
  keep_private(*options, access.endpoint, settings);
  options->client_cert.clear();
  return index::make_stored_place(
      index::make_s3_store(std::move(access), index::make_transport(std::move(*options)), goes_on));
}

}  // namespace axle::session
