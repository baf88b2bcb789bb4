#include "index/bundle/bundle.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "foundation/system/parallel.h"
#include "foundation/text/quote.h"
#include "index/http/local_files.h"
#include "index/http/url.h"
#include "wheel/bundle/ssh_signature.h"
#include "wheel/hash/sha256.h"

namespace axle::index {
namespace {

constexpr std::uint64_t max_signature_bytes = 64U << 10;
constexpr std::string_view page_type = "application/vnd.pypi.simple.v1+json";
constexpr std::size_t part_bytes = 256U << 10;

/// What is stored takes no more room than the file.
constexpr wheel::ZipLimits limits{.max_entries = 500'000,
                                  .max_total_size = std::numeric_limits<std::uint64_t>::max(),
                                  .max_ratio = 1,
                                  .max_directory_size = 64ULL << 20};

std::unexpected<Error> broken(const std::string& path, std::string_view why) {
  return fail(ErrorKind::malformed, fmt::format("the bundle {} {}", path, why),
              "it was damaged or changed: copy it again, or make another");
}

/// One source for the archive and for parts of its files.
class SharedSource final : public wheel::ByteSource {
 public:
  explicit SharedSource(std::shared_ptr<wheel::ByteSource> source) : source_(std::move(source)) {}
  [[nodiscard]] std::uint64_t size() const override { return source_->size(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    return source_->read(offset, out);
  }

 private:
  std::shared_ptr<wheel::ByteSource> source_;
};

bool is_of_the_list(std::string_view name) {
  return name == wheel::bundle_list_name || name == wheel::bundle_signature_name;
}

}  // namespace

Result<std::shared_ptr<const Bundle>> Bundle::open(const std::string& path,
                                                   const BundleTrust& trust) {
  auto opened = wheel::open_file_source(path);
  if (!opened) return std::unexpected(std::move(opened).error());
  const std::shared_ptr<wheel::ByteSource> source = std::move(*opened);
  auto archive =
      wheel::ZipReader::open(std::make_unique<SharedSource>(source), "the bundle " + path, limits);
  if (!archive) {
    if (archive.error().kind == ErrorKind::malformed)
      archive.error().hint = broken(path, "").error().hint;
    return std::unexpected(std::move(archive).error());
  }
  const std::shared_ptr<Bundle> bundle(new Bundle(path, source, *std::move(archive)));
  const auto list = bundle->read_list();
  if (!list) return std::unexpected(list.error());
  if (auto signed_by = bundle->check_signature(*list, trust); !signed_by)
    return std::unexpected(std::move(signed_by).error());
  auto members =
      wheel::parse_bundle_list(*list, fmt::format("{}: {}", path, wheel::bundle_list_name));
  if (!members) return std::unexpected(std::move(members).error());
  bundle->members_ = *std::move(members);
  if (auto same = bundle->compare_files(); !same) return std::unexpected(std::move(same).error());
  if (auto sound = bundle->check_hashes(); !sound) return std::unexpected(std::move(sound).error());
  return bundle;
}

Result<std::string> Bundle::read_list() const {
  const wheel::ZipEntry* const list = archive_.find(wheel::bundle_list_name);
  if (list == nullptr)
    return fail(ErrorKind::malformed,
                fmt::format("{} is not a bundle: it has no {}", path_, wheel::bundle_list_name),
                "name a file that a bundle was saved in");
  return archive_.read_text(*list, wheel::max_bundle_list_bytes);
}

Result<void> Bundle::check_signature(const std::string& list, const BundleTrust& trust) {
  const bool demanded = !trust.origin.empty();
  const wheel::ZipEntry* const entry = archive_.find(wheel::bundle_signature_name);
  if (entry == nullptr) {
    if (!demanded) return {};
    return fail(ErrorKind::mismatch,
                fmt::format("the bundle {} is not signed, but {} names who must have signed it",
                            path_, trust.origin),
                "make it again with --signing-key KEY");
  }
  const std::string where = fmt::format("{}: {}", path_, wheel::bundle_signature_name);
  const auto text = archive_.read_text(*entry, max_signature_bytes);
  if (!text) return std::unexpected(text.error());
  const auto signature = wheel::parse_ssh_signature(*text, where);
  if (!signature) return std::unexpected(signature.error());
  if (signature->name_space != bundle_namespace)
    return fail(ErrorKind::mismatch,
                fmt::format("{} was made for {}, not for {}", where,
                            text::quote(signature->name_space), bundle_namespace),
                fmt::format("sign it for that: ssh-keygen -Y sign -n {}", bundle_namespace));
  if (auto good = wheel::check_ssh_signature(*signature, list, where); !good) return good;
  key_ = wheel::ssh_key_fingerprint(signature->key);
  if (!demanded) return {};
  const auto found =
      wheel::find_allowed_signer(trust.signers, signature->key, bundle_namespace, trust.now);
  if (found) {
    signer_ = (*found)->principals;
    return {};
  }
  return fail(ErrorKind::mismatch,
              fmt::format("the bundle {} is not signed by one of the signers of {}: {}", path_,
                          trust.origin, found.error().message),
              "if whoever has that key is to be trusted, add them to the allowed signers");
}

/// The list says what there is, the archive only where.
Result<void> Bundle::compare_files() const {
  for (const wheel::ZipEntry& entry : archive_.entries()) {
    if (is_of_the_list(entry.name)) continue;
    const auto member =
        std::ranges::lower_bound(members_, entry.name, {}, &wheel::BundleMember::path);
    if (member == members_.end() || member->path != entry.name)
      return broken(path_,
                    fmt::format("has {}, which its list does not have", text::quote(entry.name)));
    if (entry.method != 0 || entry.directory)
      return broken(path_, fmt::format("has {} in another form than as a stored file",
                                       text::quote(entry.name)));
    if (entry.size != member->size)
      return broken(path_, fmt::format("has {} with {} bytes, its list says {}", member->path,
                                       entry.size, member->size));
  }
  for (const wheel::BundleMember& member : members_) {
    if (archive_.find(member.path) == nullptr)
      return broken(path_, fmt::format("lacks {}, which its list has", member.path));
  }
  return {};
}

Result<void> Bundle::check_hashes() const {
  std::mutex mutex;  // protects the error
  std::optional<Error> first;
  const BodySink nowhere = [](std::span<const std::byte>) -> Result<void> { return {}; };
  system::for_each_at_once(members_.size(), system::usable_processors(), [&](std::size_t i) {
    {
      const std::lock_guard lock(mutex);
      if (first) return;
    }
    auto checked = read(members_[i], nowhere);
    const std::lock_guard lock(mutex);
    if (!checked && !first) first = std::move(checked).error();
  });
  if (first) return std::unexpected(std::move(*first));
  return {};
}

Result<void> Bundle::read(const wheel::BundleMember& member, const BodySink& sink) const {
  wheel::Sha256 hash;
  auto done = archive_.read(*archive_.find(member.path), [&](std::span<const std::byte> bytes) {
    hash.update(bytes);
    return sink(bytes);
  });
  if (!done) return done;
  const std::string found = wheel::render_hex(hash.finish());
  if (found == member.sha256) return {};
  return fail(ErrorKind::mismatch,
              fmt::format("the bundle {} has {} with the sha256 {}, its list says {}", path_,
                          member.path, found, member.sha256),
              broken(path_, "").error().hint);
}

std::string Bundle::index_url() const { return bundle_url(path_) + "/simple/"; }

std::string Bundle::wheel_with(std::string_view sha256) const {
  const auto found = std::ranges::find_if(members_, [&](const wheel::BundleMember& member) {
    return member.sha256 == sha256 && member.path.ends_with(".whl");
  });
  if (found == members_.end()) return {};
  return fmt::format("{}/{}", bundle_url(path_), percent_encode(found->path, true));
}

bool Bundle::has_place(std::string_view url) const {
  return url.starts_with(bundle_url(path_) + "/");
}

const wheel::BundleMember* Bundle::find(std::string_view url) const {
  const std::string_view place = without_fragment(url);
  std::string name = percent_decode(place.substr(bundle_url(path_).size() + 1));
  if (name.ends_with('/')) name += "index.json";
  const auto found = std::ranges::lower_bound(members_, name, {}, &wheel::BundleMember::path);
  return found == members_.end() || found->path != name ? nullptr : &*found;
}

Result<HttpResponse> Bundle::answer(const HttpRequest& request, const BodySink* sink) const {
  HttpResponse response;
  response.url = without_fragment(request.url);
  const wheel::BundleMember* const member = find(request.url);
  response.status = 404;
  if (member == nullptr) return response;
  const ByteRange part = wanted_part(request, member->size);
  if (part.length > request.max_bytes)
    return fail(ErrorKind::io, fmt::format("{} in {} is larger than the {} bytes allowed here",
                                           member->path, path_, request.max_bytes));
  response.status = request.range || request.tail ? 206 : 200;
  response.total_size = member->size;
  response.content_type = member->path.ends_with("index.json") ? page_type : "";
  const BodySink keep = [&](std::span<const std::byte> bytes) -> Result<void> {
    response.body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  };
  const BodySink& to = sink == nullptr ? keep : *sink;
  Result<void> done;
  if (response.status == 200) {
    done = read(*member, to);
  } else {
    std::vector<std::byte> buffer(std::min<std::uint64_t>(part.length, part_bytes));
    const std::uint64_t begin = archive_.find(member->path)->data_offset + part.offset;
    for (std::uint64_t at = 0; done && at < part.length; at += buffer.size()) {
      buffer.resize(std::min<std::uint64_t>(part.length - at, buffer.size()));
      done = source_->read(begin + at, buffer);
      if (done) done = to(buffer);
    }
  }
  if (!done) return std::unexpected(std::move(done).error());
  return response;
}

bool is_bundle(const std::string& path) {
  auto source = wheel::open_file_source(path);
  if (!source) return false;
  const auto archive = wheel::ZipReader::open_directory(*std::move(source), path, limits);
  if (!archive) return false;
  const wheel::ZipEntry* const list = archive->find(wheel::bundle_list_name);
  if (list == nullptr) return false;
  const auto text = archive->read_text(*list, wheel::max_bundle_list_bytes);
  return text && text->starts_with(std::string(wheel::bundle_list_title) + '\n');
}

}  // namespace axle::index
