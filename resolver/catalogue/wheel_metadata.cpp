// The core metadata of chosen wheels: read once, checked against the file name.

#include <utility>

#include <fmt/format.h>

#include "index/pages/remote_wheel.h"
#include "resolver/choice/package_choice.h"

namespace axle::resolver {

Result<const wheel::CoreMetadata*> PackageChooser::metadata_of(const std::string& name,
                                                               const Release& release,
                                                               const CandidateWheel& wheel) {
  const index::PublishedFile& file = *wheel.file;
  auto known = metadata_.find(file.url);
  if (known == metadata_.end()) {
    report_.progress(file.filename, 0, 0);
    const auto truth = sources_.true_metadata.find(file.url);
    const auto text =
        truth != sources_.true_metadata.end()
            ? Result<std::string>(truth->second)
            : index::fetch_metadata(file, release.source, *sources_.transport, report_);
    known = metadata_
                .emplace(file.url, text ? wheel::parse_core_metadata(
                                              *text, index::redact_url(file.url) + ".metadata")
                                        : std::unexpected(text.error()))
                .first;
  }
  if (!known->second) return std::unexpected(known->second.error());
  if (auto sound = check_metadata(name, wheel, *known->second); !sound) {
    return std::unexpected(std::move(sound).error());
  }
  return &*known->second;
}

Result<void> PackageChooser::check_metadata(const std::string& name, const CandidateWheel& wheel,
                                            const wheel::CoreMetadata& metadata) const {
  if (wheel::normalize_name(metadata.name) != name || metadata.version != wheel.name.version) {
    return fail(ErrorKind::malformed,
                fmt::format("{} says in its metadata that it is {} {}", wheel.file->filename,
                            metadata.name, wheel::render_version(metadata.version)));
  }
  wheel::Version python = target_.python_version;
  python.pre.reset();
  python.dev.reset();
  if (!metadata.requires_python.contains(python)) {
    return fail(ErrorKind::unsupported,
                fmt::format("{} needs Python {}, this is {}", wheel.file->filename,
                            wheel::render_specifiers(metadata.requires_python),
                            wheel::render_version(python)),
                fmt::format("an environment with Python {} can have it (--python)",
                            wheel::render_specifiers(metadata.requires_python)));
  }
  return {};
}

}  // namespace axle::resolver
