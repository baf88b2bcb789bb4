#pragma once
// Reads the metadata of a published wheel without downloading it: PEP 658 file, else byte ranges,
// else (servers without ranges) the whole file, once.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "index/pages/page.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/wheel_name.h"
#include "wheel/zip/zip_reader.h"

namespace axle::index {

/// Range reads with a cached tail; also for file URLs and folders. The first read requests the last
/// 65 KiB. Error: io; unsupported if the server's ranges are wrong.
[[nodiscard]] Result<std::unique_ptr<wheel::ByteSource>> open_remote(const PublishedFile& file,
                                                                     Transport& transport);

/// The METADATA text: `{url}.metadata` if published, else from the archive. A published one whose
/// hash differs from that of `index` (for messages) is skipped with a warning: the wheel that is
/// installed contains its own. What a cache has of a published one is given without the parts that
/// no decision reads (wheel::essential_metadata). `name`: of the file, parsed.
[[nodiscard]] Result<std::string> fetch_metadata(const PublishedFile& file,
                                                 const wheel::WheelName& name,
                                                 std::string_view index, Transport& transport,
                                                 Report& report);

/// Hints: `fetch_metadata` or `fetch_listed` will probably be called with the same. What the
/// transport has or nobody can say without the whole wheel is not requested. The text, where that
/// is known at once.
std::optional<std::string> prefetch_metadata(const PublishedFile& file, Transport& transport);
/// The published METADATA if it has come by now and is what the index lists; else nothing is said.
[[nodiscard]] std::optional<std::string> arrived_metadata(const PublishedFile& file,
                                                          Transport& transport);
void prefetch_listed(const PublishedFile& file, Transport& transport, std::uint64_t max_bytes);

/// The variant of a wheel (its variant.json, whose one label is that of its `name`),
/// from the archive. Errors: as of open_remote and wheel::open_wheel; unsupported for a plain
/// wheel.
[[nodiscard]] Result<wheel::VariantMetadata> fetch_own_variant(const PublishedFile& file,
                                                               const wheel::WheelName& name,
                                                               Transport& transport,
                                                               Report& report);

/// A `variants.json` or any small listed file, with its listed sha256 checked. Errors: io,
/// mismatch, not_found.
[[nodiscard]] Result<std::string> fetch_listed(const PublishedFile& file, Transport& transport,
                                               std::uint64_t max_bytes);

}  // namespace axle::index
