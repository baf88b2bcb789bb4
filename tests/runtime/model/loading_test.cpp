// What loading takes: rows come from a mapped file, and neither a float copy of them nor the file
// stays in memory.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/files/mapped_file.h"
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

Tensor tensor_of(const MappedFile& file) {
  return {.name = "matrix",
          .type = TensorType::q8_0,
          .shape = {rows, columns},
          .data = file.bytes(),
          .mapped = true};
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

TEST_CASE("loading takes the packed weights and a little, of a file that is mapped") {
  const testing::Folder folder;
  const std::string path = folder.write("matrix", made_matrix());
  const Result<MappedFile> file = MappedFile::open(path);
  REQUIRE(file.has_value());
  const Tensor tensor = tensor_of(*file);
  Engine engine(2);
  REQUIRE(engine.choose_kernels(nullptr, nullptr) == AXLE_OK);
  for (const char* const mode : {"a16w8", "a16w4", "fp8", "float"}) {
    CAPTURE(std::string(mode));
    WeightRows weights("made");
    weights.append({.weights = &tensor});
    if (!reset_peak()) {
      MESSAGE("peaks cannot be set back here: not measured");
      return;
    }
    const std::size_t before = memory_line("VmRSS");
    Result<Projection> packed = Projection::pack(engine, *find_mode(mode), weights, {});
    REQUIRE(packed.has_value());
    const std::size_t taken = memory_line("VmHWM") - before;
    // A float copy would take 64 MiB, the file 17. Of it each thread may have a MiB, and what the
    // system maps beside what is touched.
    CHECK(taken < packed->bytes() + (std::size_t{12} << 20));
  }
}

TEST_CASE("rows that were forgotten are read again as they were") {
  const testing::Folder folder;
  const std::string bytes = made_matrix();
  const Result<MappedFile> file = MappedFile::open(folder.write("matrix", bytes));
  REQUIRE(file.has_value());
  const Tensor tensor = tensor_of(*file);
  Tensor in_memory = tensor;
  in_memory.data = testing::bytes_of(bytes);
  in_memory.mapped = false;
  std::vector<float> before(columns);
  std::vector<float> after(columns);
  for (const std::size_t row : {std::size_t{0}, std::size_t{5000}, rows - 1}) {
    read_rows(tensor, row, 1, before.data());
    forget_rows(tensor, 0, rows);
    forget_rows(in_memory, 0, rows);  // nothing: the bytes are nowhere else
    read_rows(tensor, row, 1, after.data());
    CHECK(before == after);
    read_rows(in_memory, row, 1, after.data());
    CHECK(before == after);
  }
}

}  // namespace axle::runtime
