#include "session/bundles/opened_bundle.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "index/http/redaction.h"
#include "session/input_file.h"
#include "session/settings/axle_config.h"
#include "session/variables.h"

namespace axle::session {

namespace {

constexpr const char* variable_name = "AXLE_ALLOWED_SIGNERS";

/// A file without anybody's name trusts nobody: nothing would be installed.
Outcome<std::optional<Stated>> named_signers(const Arguments& arguments) {
  if (arguments.has(Opt::allowed_signers))
    return Stated{arguments.value(Opt::allowed_signers), option_name(Opt::allowed_signers)};
  if (std::string named = variable(variable_name); !named.empty())
    return Stated{std::move(named), variable_name};
  auto configs = read_axle_configs();
  if (!configs) return std::unexpected(configs.error());
  return std::move(configs->user.allowed_signers);
}

Outcome<index::BundleTrust> read_trust(const Arguments& arguments) {
  index::BundleTrust trust;
  const auto named = named_signers(arguments);
  if (!named) return std::unexpected(named.error());
  if (!*named) return trust;
  const auto text = read_input((*named)->value);
  if (!text)
    return misused(fmt::format("the allowed signers cannot be read: {} ({})", text.error().message,
                               (*named)->origin),
                   "name a file as ssh-keygen(1) describes under ALLOWED SIGNERS");
  auto signers = wheel::parse_allowed_signers(*text, (*named)->value);
  if (!signers) return misconfigured(std::move(signers).error());
  trust.signers = *std::move(signers);
  trust.origin = fmt::format("{} ({})", (*named)->value, (*named)->origin);
  trust.now = std::chrono::duration_cast<std::chrono::seconds>(
                  std::chrono::system_clock::now().time_since_epoch())
                  .count();
  return trust;
}

Outcome<void> refuse_other_places(const Arguments& arguments) {
  for (const Opt other :
       {Opt::index_url, Opt::extra_index_url, Opt::index, Opt::default_index, Opt::find_links,
        Opt::family, Opt::build_from_source, Opt::build_from_source_of}) {
    if (!arguments.has(other)) continue;
    const std::string name =
        other == Opt::build_from_source_of ? "--build=PKG" : option_name(other);
    return misused(fmt::format("{} cannot be used with --bundle", name),
                   "everything comes out of the bundle: leave out one of them");
  }
  return {};
}

}  // namespace

Outcome<std::shared_ptr<const index::Bundle>> open_bundle(const Arguments& arguments,
                                                          Report& report) {
  if (!arguments.has(Opt::bundle)) {
    if (!arguments.has(Opt::allowed_signers)) return nullptr;
    return misused("--allowed-signers is about a bundle, and none is named",
                   "name it with --bundle FILE");
  }
  if (auto alone = refuse_other_places(arguments); !alone) return std::unexpected(alone.error());
  const auto trust = read_trust(arguments);
  if (!trust) return std::unexpected(trust.error());
  std::error_code error;
  const auto path = std::filesystem::absolute(arguments.value(Opt::bundle), error);
  if (error || arguments.value(Opt::bundle).empty())
    return misused("--bundle names no file", "name one with --bundle FILE");
  auto bundle = index::Bundle::open(path.lexically_normal().string(), *trust);
  if (!bundle) return failed(std::move(bundle).error());
  if (!(*bundle)->signer().empty())
    report.detail(fmt::format("{} is signed by {} ({})", path.string(), (*bundle)->signer(),
                              (*bundle)->key()));
  if ((*bundle)->signer().empty() && !(*bundle)->key().empty())
    report.warn(fmt::format("{} is signed by the key {}, and nothing says whether to trust it",
                            path.string(), (*bundle)->key()),
                "name whom you trust with --allowed-signers FILE, AXLE_ALLOWED_SIGNERS or "
                "allowed-signers in axle/config.toml");
  return *std::move(bundle);
}

Outcome<void> refuse_places(const resolver::Requests& requests) {
  for (const auto* list : {&requests.requirements, &requests.constraints, &requests.overrides}) {
    for (const resolver::Request& request : *list) {
      if (request.requirement.url.empty()) continue;
      return misused(fmt::format("{}{} cannot be used with --bundle",
                                 request.origin.empty() ? "" : request.origin + ": ",
                                 index::redact_url(request.requirement.url)),
                     "everything comes out of the bundle: name the package alone, or install the "
                     "file without --bundle");
    }
  }
  return {};
}

void use_bundle_alone(Arguments& arguments) {
  for (const Opt each : {Opt::no_index, Opt::offline})
    if (!arguments.has(each)) arguments.add(each, "");
}

}  // namespace axle::session
