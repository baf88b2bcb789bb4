#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "detect/host.h"
#include "detect/probe.h"
#include "runtime/linear.h"
#include "runtime/machine/cpu.h"
#include "runtime/selftest.h"
#include "tests/runtime/kernel_sets.h"
#include "tests/runtime/layer_case.h"

#if defined(__SANITIZE_THREAD__)
#define AXLE_UNDER_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define AXLE_UNDER_THREAD_SANITIZER
#endif
#endif

namespace axle::runtime {
namespace {

#if defined(__x86_64__)
constexpr detect::Arch machine_arch = detect::Arch::x86_64;
#elif defined(__aarch64__)
constexpr detect::Arch machine_arch = detect::Arch::aarch64;
#else
constexpr detect::Arch machine_arch = detect::Arch::other;
#endif

/// Runs `work` in a child process; its result is the exit code.
int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool pack(Linear& linear, const LayerCase& layer, axle_mode mode) {
  return linear.pack({.struct_size = sizeof(axle_linear_options),
                      .mode = mode,
                      .weight_type = AXLE_INT8,
                      .n = layer.n,
                      .k = layer.k,
                      .weights = layer.weights.data(),
                      .scales = layer.scales.data(),
                      .bias = nullptr,
                      .group = 0,
                      .scaling = AXLE_SEARCHED,
                      .reserved = 0,
                      .factors = nullptr,
                      .device = nullptr},
                     nullptr) == AXLE_OK;
}

std::vector<float> forward(Engine& engine, const LayerCase& layer, axle_mode mode) {
  Linear linear(engine);
  std::vector<float> y(layer.m * layer.n);
  if (pack(linear, layer, mode))
    linear.forward(AXLE_FLOAT32, layer.x.data(), layer.m, y.data(), nullptr);
  return y;
}

LayerCase shared_case() {
  LayerCase layer = make_case(16, 256, 128, Contents::ordinary, 1);
  layer.bias.clear();
  return layer;
}

#if defined(__x86_64__)
bool tiles_are_permitted() {
  constexpr long get_permission = 0x1022;
  std::uint64_t mask = 0;
  return syscall(SYS_arch_prctl, get_permission, &mask) == 0 && ((mask >> 18U) & 1U) != 0;
}

/// From here on this process is refused AMX, as some containers do.
bool refuse_tile_requests() {
  constexpr std::uint32_t request = 0x1023;
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, request, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// From here on this process gets no threads.
bool refuse_threads() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool amx_is_usable() {
  const KernelRow* const row = find_kernel("amx_int8");
  if (row != nullptr && is_usable(*row)) return true;
  MESSAGE("skipped: this machine has no AMX, or its system does not offer it");
  return false;
}
#endif

void broken_multiply(const BlockProduct& product) {
  kernel_table().back().set->multiply(product);
  product.sums[0] += 100000;
}

}  // namespace

TEST_CASE("what the runtime reads of the CPU is what detection reads") {
  const auto host = detect::make_real_host();
  const detect::Machine machine =
      detect::probe_machine(*host, {.gpus = false, .driver_libraries = false});
  for (const KernelRow& row : kernel_table()) {
    for (const detect::Capability capability : row.required) {
      CAPTURE(std::string(detect::row(capability).name));
      CHECK(machine_has(capability) == machine.cpu.capabilities.has(capability));
    }
  }
  CHECK(prefetches_page_by_page() == (machine.cpu.vendor == "GenuineIntel"));
}

#if !defined(__x86_64__)
TEST_CASE("every capability that the kernel tells is read as detection reads it") {
  const auto host = detect::make_real_host();
  const detect::Machine machine =
      detect::probe_machine(*host, {.gpus = false, .driver_libraries = false});
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    CAPTURE(std::string(row.name));
    CHECK(machine_has(row.id) == machine.cpu.capabilities.has(row.id));
  }
}
#endif

TEST_CASE("the table has each kernel set of this architecture once, and ends with the baseline") {
  std::set<std::string_view> names;
  for (const KernelRow& row : kernel_table()) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(find_kernel(row.name) == &row);
    for (const detect::Capability capability : row.required)
      CHECK(detect::row(capability).arch == machine_arch);
  }
  CHECK(kernel_table().back().name == std::string_view("baseline"));
  CHECK(kernel_table().back().required.empty());
  CHECK(kernel_table().back().permission == nullptr);
  CHECK(kernel_table().back().set != nullptr);
}

TEST_CASE("a forked child can use the runtime of its parent") {
#if defined(AXLE_UNDER_THREAD_SANITIZER)
  MESSAGE("skipped: the thread sanitizer ends a forked child that starts threads");
  return;
#endif
  const LayerCase layer = shared_case();
  Engine engine(3);
  REQUIRE(engine.choose_kernels(nullptr, nullptr) == AXLE_OK);
  const std::vector<float> expected = forward(engine, layer, AXLE_DA8W8);
  CHECK(in_child([&] { return forward(engine, layer, AXLE_DA8W8) == expected ? 0 : 1; }) == 0);
  // Also when the pool was taken at that moment: whoever had it is not in the child.
  REQUIRE(engine.pool().try_acquire());
  CHECK(in_child([&] {
          const bool acquired = engine.pool().try_acquire();
          if (acquired) engine.pool().release();
          return acquired && forward(engine, layer, AXLE_DA8W8) == expected ? 0 : 1;
        }) == 0);
  CHECK_FALSE(engine.pool().try_acquire());
  engine.pool().release();
  CHECK(forward(engine, layer, AXLE_DA8W8) == expected);
}

TEST_CASE("the pool runs every part exactly once, call after call") {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    REQUIRE(pool.try_acquire());
    std::vector<std::atomic<int>> counts(static_cast<std::size_t>(threads));
    auto task = [&](int thread) { ++counts[static_cast<std::size_t>(thread)]; };
    for (int i = 0; i < 200; ++i) pool.run(task);
    usleep(20000);  // the threads are asleep now
    for (int i = 0; i < 3; ++i) pool.run(task);
    pool.release();
    for (const std::atomic<int>& count : counts) CHECK(count == 203);
  }
}

TEST_CASE("no part goes on before all have come to a barrier") {
  constexpr int rounds = 300;
  ThreadPool pool(4);
  REQUIRE(pool.try_acquire());
  const int parts = pool.start();
  std::atomic<int> early{0};
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> arrived{0};
    Barrier barrier(static_cast<std::size_t>(parts));
    auto task = [&](int thread) {
      if (thread >= parts) return;
      // In some rounds one part is so late that the others sleep.
      if (round % 100 == 0 && thread == round / 100 % parts) usleep(20000);
      ++arrived;
      barrier.wait();
      if (arrived != parts) ++early;
    };
    pool.run(task);
  }
  pool.release();
  CHECK(early == 0);
}

TEST_CASE("the self-test finds a kernel that computes wrongly") {
  KernelSet broken = *kernel_table().back().set;
  broken.multiply = broken_multiply;
  const KernelRow row{"broken", {}, 1, nullptr, &broken};
  Engine engine(1);
  engine.use_only(row);
  axle_error error{};
  CHECK(selftest(engine, &error) == AXLE_MISMATCH);
  CHECK(std::string(error.message).find("kernel set 'broken', da8w8, 1 rows: y[0][0] is wrong") ==
        0);
}

#if defined(__x86_64__)
TEST_CASE("where the system gives no threads, the caller does all the work") {
  LayerCase layer = make_case(48, 256, 1024, Contents::ordinary, 3);
  const std::vector<float> expected = exact_result(layer, AXLE_A16W8);
  constexpr int not_refused = 10;
  const int result = in_child([&] {
    if (!refuse_threads()) return not_refused;
    Engine engine(3);
    if (engine.choose_kernels(nullptr, nullptr) != AXLE_OK) return 11;
    if (engine.pool().start() != 1) return 12;
    return forward(engine, layer, AXLE_A16W8) == expected ? 0 : 13;
  });
  if (result == not_refused) {
    MESSAGE("skipped: this system has no filters of system calls");
    return;
  }
  CHECK(result == 0);
}

TEST_CASE("the permission to use tiles is asked for at the first use and not before") {
  if (!amx_is_usable()) return;
  if (tiles_are_permitted()) {
    MESSAGE("skipped: an earlier test of this process has asked already; run this one alone");
    return;
  }
  const LayerCase layer = shared_case();
  CHECK(in_child([&] {
          Engine engine(1);
          if (engine.choose_kernels(nullptr, nullptr) != AXLE_OK) return 11;
          Linear linear(engine);
          if (!pack(linear, layer, AXLE_DA8W8)) return 12;
          if (tiles_are_permitted()) return 13;
          std::vector<float> y(layer.m * layer.n);
          linear.forward(AXLE_FLOAT32, layer.x.data(), layer.m, y.data(), nullptr);
          return tiles_are_permitted() ? 0 : 14;
        }) == 0);
}

TEST_CASE("tiles that a thread has configured are configured so after a layer has run") {
  if (!amx_is_usable()) return;
  const LayerCase layer = shared_case();
  CHECK(in_child([&] {
          Engine engine(1);
          if (engine.choose_kernels("amx_int8", nullptr) != AXLE_OK) return 11;
          struct alignas(64) Configuration {
            unsigned char bytes[tile_configuration_bytes];
          };
          // Palette 1; tile 0 has 8 rows of 32 bytes. Then nothing, as in a thread without tiles.
          for (const bool configured : {true, false}) {
            Configuration before{};
            if (configured) {
              before.bytes[0] = 1;
              before.bytes[16] = 32;
              before.bytes[48] = 8;
            }
            Configuration after;
            std::memset(after.bytes, 0xff, sizeof after.bytes);
            asm volatile("ldtilecfg %0" ::"m"(before));
            forward(engine, layer, AXLE_DA8W8);
            asm volatile("sttilecfg %0" : "=m"(after));
            if (std::memcmp(before.bytes, after.bytes, sizeof before.bytes) != 0) return 12;
          }
          return 0;
        }) == 0);
}

TEST_CASE("denied tiles: the next kernel set is used, a forced one is an error") {
  if (!amx_is_usable()) return;
  const LayerCase layer = shared_case();
  const std::vector<float> expected = exact_result(layer, AXLE_DA8W8);
  CHECK(in_child([&] {
          if (!refuse_tile_requests()) return 10;
          Engine engine(2);
          if (engine.choose_kernels(nullptr, nullptr) != AXLE_OK) return 11;
          if (std::strcmp(engine.kernel_for(16).name, "amx_int8") == 0) return 12;
          if (forward(engine, layer, AXLE_DA8W8) != expected) return 13;
          if (selftest(engine, nullptr) != AXLE_OK) return 14;
          Engine forced(1);
          axle_error error{};
          if (forced.choose_kernels("amx_int8", &error) != AXLE_UNSUPPORTED) return 15;
          return std::strstr(error.message, "refuses the permission") != nullptr ? 0 : 16;
        }) == 0);
}
#endif

}  // namespace axle::runtime
