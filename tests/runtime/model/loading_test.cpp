// What loading takes: rows come from a file that stays open, and neither a float copy of them nor
// the file comes into memory.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "runtime/files/model_file.h"
#include "runtime/model/layers/projection.h"
#include "tests/runtime/files/made_file.h"

namespace axle::runtime {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif

constexpr std::size_t rows = 16384;
constexpr std::size_t columns = 1024;
constexpr std::size_t block_bytes = 34;  ///< of 32 weights as q8_0

/// A q8_0 matrix of pseudo-random bytes behind a scale of 1/128.
std::string made_matrix() {
  std::string bytes(rows * columns / 32 * block_bytes, '\0');
  std::mt19937 random(1);
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (std::size_t i = 0; i < bytes.size(); i += block_bytes) bytes.replace(i, 2, "\x00\x20", 2);
  return bytes;
}

Tensor tensor_of(const ModelFile& file) {
  return {.name = "matrix",
          .type = TensorType::q8_0,
          .shape = {rows, columns},
          .file = &file,
          .bytes = static_cast<std::size_t>(file.size())};
}

/// Of /proc/self/status, in bytes; the peak is first set back to what is in memory now.
std::size_t memory_line(const char* name) {
  std::FILE* const status = std::fopen("/proc/self/status", "r");
  REQUIRE(status != nullptr);
  char line[256];
  std::size_t kilobytes = 0;
  while (std::fgets(line, sizeof line, status) != nullptr) {
    if (std::strncmp(line, name, std::strlen(name)) == 0)
      std::sscanf(line + std::strlen(name), ": %zu", &kilobytes);
  }
  std::fclose(status);
  return kilobytes * 1024;
}

/// False: not measurable here; sanitizers have memory of their own.
bool reset_peak() {
  if (sanitized) return false;
  std::FILE* const refs = std::fopen("/proc/self/clear_refs", "w");
  if (refs == nullptr) return false;
  const bool written = std::fputs("5", refs) >= 0;
  return std::fclose(refs) == 0 && written;
}

}  // namespace

/// What packing took at its peak beyond the packed weights.
void check_peak(Engine& engine, const ModelMode& mode, const WeightRows& weights) {
  const std::size_t before = memory_line("VmRSS");
  REQUIRE(reset_peak());
  const Result<Projection> packed = Projection::pack(engine, mode, weights, {});
  REQUIRE_MESSAGE(packed.has_value(), packed.error().message);
  const std::size_t taken = memory_line("VmHWM") - before;
  // A float copy would take 64 MiB, one of int8 16, the file of blocks 17.
  CHECK(taken < packed->bytes() + (std::size_t{6} << 20));
}

TEST_CASE("loading takes the packed weights and a little") {
  const testing::Folder folder;
  const Result<ModelFile> file = ModelFile::open(folder.write("matrix", made_matrix()));
  REQUIRE(file.has_value());
  const Tensor tensor = tensor_of(*file);
  Engine engine(2);
  REQUIRE(engine.choose_kernels(nullptr, nullptr) == AXLE_OK);
  if (!reset_peak()) {
    MESSAGE("peaks cannot be set back here: not measured");
    return;
  }
  for (const char* const mode : {"a16w8", "a16w4", "fp8", "float"}) {
    CAPTURE(std::string(mode));
    WeightRows weights("made");
    weights.append({.weights = &tensor});
    check_peak(engine, *find_mode(mode), weights);
  }
}

TEST_CASE("so does loading of weights that are quantised already") {
  const testing::Folder folder;
  const Result<ModelFile> bytes =
      ModelFile::open(folder.write("weights", std::string(rows * columns, 1)));
  // As float32 0.25, as bfloat16 0.25.
  std::string halves;
  for (std::size_t i = 0; i < rows * columns / 64; ++i) halves += "\x80\x3e";
  const Result<ModelFile> scales = ModelFile::open(folder.write("scales", halves));
  REQUIRE(bytes.has_value());
  REQUIRE(scales.has_value());
  Engine engine(2);
  REQUIRE(engine.choose_kernels(nullptr, nullptr) == AXLE_OK);
  if (!reset_peak()) {
    MESSAGE("peaks cannot be set back here: not measured");
    return;
  }
  for (const char* const mode : {"a16w8", "a16w4", "fp8"}) {
    CAPTURE(std::string(mode));
    const bool int4 = find_mode(mode)->group != 0;
    const std::size_t stored = int4 ? columns / 2 : columns;
    const Tensor values{.name = "values",
                        .type = int4 ? TensorType::uint8 : TensorType::int8,
                        .shape = {rows, stored},
                        .file = &*bytes,
                        .bytes = rows * stored};
    const Tensor factors{.name = "factors",
                         .type = TensorType::bfloat16,
                         .shape = {rows, int4 ? columns / 64 : 1},
                         .file = &*scales};
    WeightRows weights("made");
    weights.append({.weights = &values, .scales = &factors});
    check_peak(engine, *find_mode(mode), weights);
  }
}

TEST_CASE("a file that is cut short is found while its rows are packed, whichever mode") {
  const testing::Folder folder;
  const std::string path = folder.write("matrix", made_matrix());
  const Result<ModelFile> file = ModelFile::open(path);
  REQUIRE(file.has_value());
  const Tensor tensor = tensor_of(*file);
  REQUIRE(truncate(path.c_str(), static_cast<off_t>(file->size() / 2)) == 0);
  Engine engine(2);
  REQUIRE(engine.choose_kernels(nullptr, nullptr) == AXLE_OK);
  for (const char* const mode : {"a16w8", "a16w4", "fp8", "float"}) {
    CAPTURE(std::string(mode));
    WeightRows weights("made");
    weights.append({.weights = &tensor});
    const Result<Projection> packed = Projection::pack(engine, *find_mode(mode), weights, {});
    REQUIRE(!packed.has_value());
    CHECK(packed.error().status == AXLE_IO);
    CHECK(packed.error().message.starts_with(path + ": cut short while it was in use"));
    CHECK(packed.error().message.ends_with("; tensor \"matrix\" is lost"));
  }
}

}  // namespace axle::runtime
