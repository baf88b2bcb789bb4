#include "runtime/files/model_file.h"

#include <cstdio>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/files/gguf.h"
#include "runtime/files/safetensors.h"
#include "tests/runtime/files/made_file.h"

namespace {

using namespace axle::runtime;
using namespace axle::runtime::testing;

std::string text_at(const ModelFile& file, std::uint64_t at, std::size_t count) {
  std::string text(count, '?');
  const Result<void> read = file.read(at, std::as_writable_bytes(std::span(text)));
  return read ? text : read.error().message;
}

TEST_CASE("a file is read from any place, also when another one has its name") {
  const Folder folder;
  const Result<ModelFile> file = ModelFile::open(folder.write("m", "0123456789"));
  REQUIRE(file.has_value());
  CHECK(file->size() == 10);
  CHECK(text_at(*file, 0, 10) == "0123456789");
  CHECK(text_at(*file, 7, 3) == "789");
  CHECK(text_at(*file, 10, 0).empty());
  REQUIRE(std::rename(folder.write("other", "another").c_str(), folder.at("m").c_str()) == 0);
  CHECK(text_at(*file, 2, 3) == "234");
  CHECK(read_text(folder.at("m")).value_or("") == "another");
}

TEST_CASE("what is no file, or too large for what it is, is refused by its path") {
  const Folder folder;
  REQUIRE(mkfifo(folder.at("pipe").c_str(), 0600) == 0);
  for (const char* const name : {"absent", "pipe", "."}) {
    const Result<ModelFile> file = ModelFile::open(folder.at(name));
    REQUIRE(!file.has_value());
    CHECK(file.error().status == AXLE_IO);
    CHECK(file.error().message.starts_with(folder.at(name) + ": "));
  }
  folder.write("five", "12345");
  CHECK(read_text(folder.at("five"), 5).value_or("") == "12345");
  const Result<std::string> text = read_text(folder.at("five"), 4);
  REQUIRE(!text.has_value());
  CHECK(text.error().message == folder.at("five") + ": 5 bytes are too many; at most 4 make sense");
  CHECK(read_text(folder.write("empty", "")).value_or("?").empty());
}

TEST_CASE("a file that is cut short after it was opened is an error, not the end of the process") {
  const Folder folder;
  const std::string path = folder.write("m", std::string(100'000, 'x'));
  const Result<ModelFile> file = ModelFile::open(path);
  REQUIRE(file.has_value());
  REQUIRE(truncate(path.c_str(), 50'000) == 0);
  CHECK(text_at(*file, 49'990, 10) == "xxxxxxxxxx");
  const std::string end =
      path + ": cut short while it was in use, from 100000 bytes to 50000; fetch it again";
  CHECK(text_at(*file, 49'990, 11) == end);
  CHECK(text_at(*file, 90'000, 10'000) == end);
}

/// The same tensor in both formats.
std::string gguf_file() {
  GgufParts parts;
  parts.tensors = {gguf_tensor("w", {4, 2000}, 0, 0)};
  parts.data = std::string(32'000, 1);
  return parts.bytes();
}
std::string safetensors_file() {
  return safetensors(R"({"w":{"dtype":"F32","shape":[2000,4],"data_offsets":[0,32000]}})",
                     std::string(32'000, 1));
}

template <class File>
void check_cut(const std::string& bytes) {
  const Folder folder;
  const std::string path = folder.write("model", bytes);
  const Result<File> file = File::open(path);
  REQUIRE(file.has_value());
  const Tensor& tensor = file->tensors().tensors().front();
  float row[4] = {};
  REQUIRE(read_rows(tensor, 1999, 1, row).has_value());
  REQUIRE(truncate(path.c_str(), static_cast<off_t>(bytes.size() - 1)) == 0);
  CHECK(read_rows(tensor, 1998, 1, row).has_value());
  const Result<void> read = read_rows(tensor, 1999, 1, row);
  REQUIRE(!read.has_value());
  CHECK(read.error().status == AXLE_IO);
  CHECK(read.error().message.starts_with(path + ": cut short while it was in use"));
  CHECK(read.error().message.ends_with("; tensor \"w\" is lost"));
}

TEST_CASE("a tensor that was cut off is named with its file") {
  check_cut<GgufFile>(gguf_file());
  check_cut<SafetensorsFile>(safetensors_file());
}

TEST_CASE("metadata of a GGUF file may be longer than what is read first, but not endless") {
  const Folder folder;
  const std::string text(5'000'000, 't');
  GgufParts parts;
  parts.values = {gguf_value("a", 8, gguf_text(text)), gguf_value("b", 4, raw(std::uint32_t{7}))};
  parts.tensors = {gguf_tensor("w", {4}, 0, 0)};
  parts.data = std::string(16, 1);
  const Result<GgufFile> file = GgufFile::open(folder.write("long", parts.bytes()));
  REQUIRE(file.has_value());
  CHECK(file->text("a") == text);
  CHECK(file->count("b") == 7);
  float row[4] = {};
  CHECK(read_rows(file->tensors().tensors().front(), 0, 1, row).has_value());

  constexpr std::uint64_t gigabytes = std::uint64_t{3} << 30U;
  parts.values = {gguf_array("a", 0, gigabytes, "")};
  const std::string path = folder.write("endless", parts.bytes());
  REQUIRE(truncate(path.c_str(), static_cast<off_t>(2 * gigabytes)) == 0);
  const Result<GgufFile> endless = GgufFile::open(path);
  REQUIRE(!endless.has_value());
  CHECK(endless.error().message == path + ": metadata of more than 268435456 bytes make no sense");
}

}  // namespace
