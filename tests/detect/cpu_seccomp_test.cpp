// What a container's seccomp filter does to detection: a real one, on this machine.
#include <array>
#include <cerrno>
#include <cstddef>

#include <doctest/doctest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "detect/probe.h"

using namespace axle::detect;

namespace {

Cpu probe() {
  const auto host = make_real_host();
  return probe_machine(*host, {.gpus = false}).cpu;
}

/// arch_prctl answers EPERM from here on, in this process.
bool refuse_arch_prctl() {
  std::array<sock_filter, 4> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{program.size(), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

enum ChildExit : int {
  as_expected,
  no_filter,
  not_unknown,
  without_evidence,
  permission_told,
  other_facts
};

/// In a child: a filter stays for good.
ChildExit probe_under_filter(const Cpu& before) {
  if (!refuse_arch_prctl()) return no_filter;
  const Cpu after = probe();
  if (after.capabilities.of(Capability::amx_tile) != Presence::unknown) return not_unknown;
  const auto evidence = after.sources.find("amx_tile");
  if (evidence == after.sources.end() || evidence->second != "arch_prctl-refused") {
    return without_evidence;
  }
  if (after.amx_permitted || !before.amx_permitted) return permission_told;
  if (after.amx_tiles != before.amx_tiles) return other_facts;
  for (const CapabilityRow& row : capabilities()) {
    const bool tiles = row.os_state == OsState::tile || row.os_state == OsState::ace;
    if (!tiles && after.capabilities.of(row.id) != before.capabilities.of(row.id)) {
      return other_facts;
    }
  }
  return as_expected;
}

}  // namespace

TEST_CASE("a seccomp filter that refuses arch_prctl makes AMX unknown and nothing else") {
  const Cpu before = probe();
  if (!before.capabilities.has(Capability::amx_tile)) {
    MESSAGE("skipped: this machine offers no AMX tiles");
    return;
  }
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(probe_under_filter(before));
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == no_filter) {
    MESSAGE("skipped: this process may set no seccomp filter");
    return;
  }
  CHECK(WEXITSTATUS(status) == as_expected);
}
