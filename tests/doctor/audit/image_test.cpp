// Layers over each other, and archives as Python's tarfile and libarchive see them.
#include <filesystem>
#include <map>
#include <set>

#include <archive.h>
#include <archive_entry.h>
#include <doctest/doctest.h>

#include "doctor/audit/image/image_reading.h"
#include "doctor/audit/image/tar_reader.h"
#include "tests/support/scratch.h"

namespace {

using namespace axle;
using namespace axle::doctor;
using axle::builder::testing::output_of;
using axle::builder::testing::read_all;
using axle::builder::testing::Scratch;

using Sizes = std::map<std::string, std::uint64_t>;

/// The regular files, or what is wrong.
Result<Sizes> listed(const std::string& bytes, std::string sha256 = {}) {
  const std::shared_ptr<wheel::ByteSource> source = wheel::memory_source(bytes);
  auto stream = open_unpacked({source, 0, bytes.size()}, "test", std::move(sha256));
  if (!stream) return std::unexpected(stream.error());
  TarReader tar(**stream, "test");
  Sizes sizes;
  while (true) {
    auto member = tar.next();
    if (!member) return std::unexpected(member.error());
    if (!*member) break;
    if ((*member)->kind == TarKind::file) sizes[(*member)->name] = (*member)->size;
  }
  if (auto rest = (*stream)->skip(UINT64_MAX); !rest) return std::unexpected(rest.error());
  return sizes;
}

Sizes listed_by_libarchive(const std::string& bytes) {
  Sizes sizes;
  archive* reader = archive_read_new();
  archive_read_support_filter_all(reader);
  archive_read_support_format_tar(reader);
  REQUIRE(archive_read_open_memory(reader, bytes.data(), bytes.size()) == ARCHIVE_OK);
  archive_entry* entry = nullptr;
  while (archive_read_next_header(reader, &entry) == ARCHIVE_OK) {
    std::string name = archive_entry_pathname(entry);
    while (name.starts_with("./")) name.erase(0, 2);
    if (archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr)
      sizes[name] = static_cast<std::uint64_t>(archive_entry_size(entry));
  }
  archive_read_free(reader);
  return sizes;
}

LayerContent layer(std::vector<LayerEntry> entries) {
  LayerContent content;
  content.entries = std::move(entries);
  return content;
}

Audited laid(std::vector<LayerContent> layers) {
  Audited image;
  lay_over_each_other(std::move(layers), image);
  return image;
}

std::set<std::string> files_of(const Audited& image) {
  return {image.files.begin(), image.files.end()};
}

}  // namespace

TEST_CASE("tar: what tar writes in each format is read as by libarchive") {
  const Scratch scratch;
  const std::string deep(90, 'd');
  scratch.write("t/a.txt", "hello");
  scratch.write("t/empty", "");
  scratch.write("t/" + deep + "/" + std::string(120, 'f'), std::string(3000, 'x'));
  std::filesystem::create_hard_link(scratch.at("t/a.txt"), scratch.at("t/hard"));
  std::filesystem::create_symlink("a.txt", scratch.at("t/soft"));
  for (const std::string format : {"gnu", "pax", "ustar"}) {
    for (const std::string filter : {"cat", "gzip -n", "zstd -q"}) {
      if (filter == "zstd -q" && std::system("zstd --version > /dev/null 2>&1") != 0) continue;
      const std::string file = scratch.at("out");
      output_of("tar -C " + scratch.at("t") + " --format=" + format + " -cf - . 2> /dev/null | " +
                filter + " > " + file);
      const std::string bytes = read_all(file);
      CAPTURE(format);
      CAPTURE(filter);
      const auto own = listed(bytes);
      REQUIRE(own.has_value());
      CHECK(*own == listed_by_libarchive(bytes));
      // The long name is too long for ustar: tar says so, and leaves it out.
      CHECK(own->size() == (format == "ustar" ? 2 : 3));
    }
  }
}

TEST_CASE("tar: gzip members behind each other, as lazily pulled images have them") {
  const Scratch scratch;
  for (int i = 0; i < 40; ++i)
    scratch.write("t/" + std::to_string(i), std::string(static_cast<std::size_t>(i) * 977, 'a'));
  output_of("tar -C " + scratch.at("t") + " -cf " + scratch.at("t.tar") + " .");
  for (const std::string size : {"100", "511", "512", "4096", "100000"}) {
    output_of(
        "cd " + scratch.at("") + " && rm -f x?? all && split -a 2 -b " + size +
        " --additional-suffix= t.tar x 2>/dev/null; for f in x*; do gzip -nc $f >> all; done || "
        "true");
    const std::string bytes = read_all(scratch.at("all"));
    CAPTURE(size);
    if (bytes.empty()) continue;
    const auto own = listed(bytes);
    const auto plain = listed(read_all(scratch.at("t.tar")));
    REQUIRE(plain.has_value());
    if (std::filesystem::file_size(scratch.at("t.tar")) / std::stoul(size) > 600) continue;
    REQUIRE(own.has_value());
    CHECK(*own == *plain);
  }
}

TEST_CASE("tar: what is damaged, truncated or lies is an error") {
  const Scratch scratch;
  scratch.write("t/a", std::string(100000, 'a'));
  output_of("tar -C " + scratch.at("t") + " -cf " + scratch.at("t.tar") + " . && gzip -nk " +
            scratch.at("t.tar"));
  const std::string plain = read_all(scratch.at("t.tar"));
  const std::string packed = read_all(scratch.at("t.tar.gz"));
  for (const std::size_t size : {600UL, 1200UL, 50000UL})
    CHECK(listed(plain.substr(0, size)).error().kind == ErrorKind::malformed);
  for (std::size_t size = 20; size < packed.size(); size += 13)
    CHECK_FALSE(listed(packed.substr(0, size)).has_value());
  std::string wrong = plain;
  wrong[100] = '9';
  CHECK(listed(wrong).error().message.contains("checksum"));
  std::string other = packed;
  other[other.size() - 6] = static_cast<char>(other[other.size() - 6] ^ 1);
  CHECK(listed(other).error().message.contains("checksum of the gzip stream"));
  CHECK(listed(plain, std::string(64, '0')).error().kind == ErrorKind::mismatch);
  CHECK(listed("").value().empty());
}

TEST_CASE("tar: a bomb ends at the limit") {
  const Scratch scratch;
  output_of("head -c 50000000 /dev/zero | gzip -n > " + scratch.at("bomb"));
  const std::string bytes = read_all(scratch.at("bomb"));
  const std::shared_ptr<wheel::ByteSource> source = wheel::memory_source(bytes);
  auto stream = open_unpacked({source, 0, bytes.size()}, "bomb", {}, {1000, 100, 1 << 30});
  REQUIRE(stream.has_value());
  const auto skipped = (*stream)->skip(UINT64_MAX);
  REQUIRE_FALSE(skipped.has_value());
  CHECK(skipped.error().message.contains("unpack to more"));
}

TEST_CASE("layers: upper ones hide, remove and replace") {
  const auto file = [](std::string path, std::uint64_t size) {
    return LayerEntry{std::move(path), TarKind::file, size};
  };
  const auto folder = [](std::string path) {
    return LayerEntry{std::move(path), TarKind::folder, 0};
  };
  const auto base = [&] {
    return layer({folder("a"), file("a/x", 10), file("a/y", 20), file("b/z", 30), file("c", 5)});
  };
  CHECK(files_of(laid({base()})) == std::set<std::string>{"a/x", "a/y", "b/z", "c"});
  const auto replaced = laid({base(), layer({file("a/x", 11), folder("a")})});
  CHECK(files_of(replaced) == std::set<std::string>{"a/x", "a/y", "b/z", "c"});
  CHECK(replaced.size == 66);
  CHECK(replaced.hidden_size == 10);
  CHECK(files_of(laid({base(), layer({file("a/.wh.x", 0)})})) ==
        std::set<std::string>{"a/y", "b/z", "c"});
  CHECK(files_of(laid({base(), layer({file(".wh.a", 0)})})) == std::set<std::string>{"b/z", "c"});
  CHECK(files_of(laid({base(), layer({file("a/.wh..wh..opq", 0), file("a/n", 1)})})) ==
        std::set<std::string>{"a/n", "b/z", "c"});
  // A file in the place of a folder, and a whiteout in the layer that makes the file anew.
  CHECK(files_of(laid({base(), layer({file("a", 1)})})) == std::set<std::string>{"a", "b/z", "c"});
  CHECK(files_of(laid({base(), layer({file(".wh.c", 0), file("c", 7)})})).contains("c"));
  // Removed in the middle, made again on top.
  CHECK(files_of(laid({base(), layer({file(".wh.a", 0)}), layer({file("a/x", 3)})})) ==
        std::set<std::string>{"a/x", "b/z", "c"});
  // Twice in one layer: the later one.
  CHECK(laid({layer({file("c", 5), file("c", 9)})}).size == 9);
}

TEST_CASE("layers: a hard link is the file, also when its first name is gone") {
  const auto file = [](std::string path) { return LayerEntry{std::move(path), TarKind::file, 10}; };
  const auto link = [](std::string path, std::string to) {
    return LayerEntry{std::move(path), TarKind::hard_link, 0, std::move(to)};
  };
  const auto base = [&] {
    LayerContent content = layer({file("a/x.so"), link("b/y.so", "a/x.so")});
    UnreadLibrary library{"a/x.so", "for the test"};
    content.libraries.emplace_back(library);
    content.libraries_at = {"a/x.so"};
    return content;
  };
  CHECK(laid({base()}).unread.at(0).path == "a/x.so");
  CHECK(laid({base(), layer({file("a/.wh.x.so")})}).unread.at(0).path == "b/y.so");
  CHECK(laid({base(), layer({file(".wh.a")}), layer({file(".wh.b")})}).unread.empty());
  CHECK(laid({base(), layer({link("c/z.so", "b/y.so")}), layer({file(".wh.a"), file(".wh.b")})})
            .unread.at(0)
            .path == "c/z.so");
}
