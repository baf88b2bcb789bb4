// Programs that really try: each attempt is made inside the sandbox, and what came of it is what
// the program printed on stderr.
#include "providers/plugins/sandbox.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "providers/plugins/plugin.h"
#include "tests/plugins/attempts.h"
#include "tests/plugins/scratch_folder.h"

namespace fs = std::filesystem;
using namespace axle::plugins;
using namespace std::chrono_literals;
using testing::ask;
using testing::attempt;
using testing::is_denied;
using testing::outcome;
using testing::skip_python;
using testing::skip_without;

namespace {

bool is_running(pid_t pid) { return ::kill(pid, 0) == 0; }

}  // namespace

TEST_CASE("the kernel's means are told") {
  const SandboxSupport support = probe_sandbox();
  MESSAGE("Landlock ABI " << support.landlock << ", seccomp " << support.seccomp);
  CHECK((support.landlock > 0 && support.seccomp) == support.lacks.empty());
}

TEST_CASE("no network") {
  if (skip_python() || skip_without(probe_sandbox().seccomp, "seccomp")) return;
  const testing::ScratchFolder folder;
  for (const char* family : {"AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_PACKET"}) {
    CAPTURE(family);
    CHECK(is_denied(outcome(folder, fmt::format("socket.socket(socket.{})", family))));
  }
  CHECK(is_denied(outcome(folder, "socket.socketpair()")));
}

TEST_CASE("no file is written, made, changed or removed") {
  const SandboxSupport support = probe_sandbox();
  if (skip_python() || skip_without(support.landlock > 0 || support.seccomp, "sandbox")) return;
  const testing::ScratchFolder folder;
  const std::string there = folder.path() + "/there";
  std::ofstream(there) << "whole";
  const std::string home =
      fs::canonical(::getenv("HOME") != nullptr ? ::getenv("HOME") : "/").string();
  for (const std::string& path :
       {folder.path() + "/new", home + "/axle-test-new", std::string("/tmp/axle-test-new"),
        std::string("/var/tmp/axle-test-new"), std::string("/dev/shm/axle-test-new")}) {
    CAPTURE(path);
    CHECK(is_denied(outcome(folder, fmt::format("open('{}', 'w')", path))));
    CHECK_FALSE(fs::exists(path));
  }
  for (const char* mode : {"w", "a", "r+"})
    CHECK(is_denied(outcome(folder, fmt::format("open('{}', '{}')", there, mode))));
  CHECK(is_denied(outcome(folder, fmt::format("os.open('{}', os.O_RDONLY | os.O_TRUNC)", there))));
  for (const char* change :
       {"os.unlink(p)", "os.truncate(p, 0)", "os.chmod(p, 0)", "os.rename(p, p + '2')",
        "os.link(p, p + '2')", "os.symlink(p, p + '2')", "os.utime(p)", "os.mkdir(p + '3')",
        "os.mkfifo(p + '4')", "os.setxattr(p, 'user.x', b'1')"}) {
    CAPTURE(change);
    CHECK(is_denied(outcome(folder, fmt::format("(lambda p: {})('{}')", change, there))));
  }
  std::string text;
  std::ifstream(there) >> text;
  CHECK(text == "whole");
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 2);
}

TEST_CASE("no new process, by whatever call") {
  if (skip_python() || skip_without(probe_sandbox().seccomp, "seccomp")) return;
  const testing::ScratchFolder folder;
  for (const char* how :
       {"os.fork()", "os.forkpty()", "subprocess.run(['/bin/sh', '-c', 'true'])",
        "os.system('true') and 1 / 0", "os.posix_spawn('/bin/sh', ['sh'], {})", "call('vfork')"}) {
    CAPTURE(how);
    CHECK_FALSE(outcome(folder, how).starts_with("done"));
  }
  for (const char* program : {"/bin/sh", "/usr/bin/python3", "/lib64/ld-linux-x86-64.so.2"}) {
    CAPTURE(program);
    CHECK_FALSE(outcome(folder, fmt::format("os.execv('{}', ['x', '-c', ''])", program))
                    .starts_with("done"));
  }
  CHECK(is_denied(outcome(folder, "os.execve(os.open('/bin/sh', os.O_RDONLY), ['sh'], {})")));
  CHECK(outcome(folder, "[(t.start(), t.join()) for t in [threading.Thread(target=print)]]")
            .starts_with("done"));
}

TEST_CASE("the page of the one program cannot be had again") {
  if (skip_python() || skip_without(probe_sandbox().seccomp, "seccomp")) return;
  const testing::ScratchFolder folder;
  const char* map =
      "[libc.syscall.__setattr__('restype', ctypes.c_long), libc.mmap.__setattr__('restype', "
      "ctypes.c_long), "
      "libc.mmap(ctypes.c_void_p({}), 4096, 3, {}, -1, 0)][-1]";
  // MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, and with MAP_GROWSDOWN
  CHECK(outcome(folder, fmt::format(fmt::runtime(map), "0x10000", "0x32")) == "done -1");
  CHECK(outcome(folder, fmt::format(fmt::runtime(map), "0x20000", "0x132")) == "done -1");
  CHECK(outcome(folder, fmt::format(fmt::runtime(map), "0x7000000", "0x132")) == "done -1");
  const char* move =
      "[libc.mmap.__setattr__('restype', ctypes.c_void_p), "
      "libc.mremap.__setattr__('restype', ctypes.c_long), "
      "libc.mremap(ctypes.c_void_p(libc.mmap(None, 4096, 3, 0x22, -1, 0)), 4096, 4096, {}, "
      "ctypes.c_void_p({})) == -1][-1]";
  // MREMAP_MAYMOVE with MREMAP_FIXED, MREMAP_DONTUNMAP and both. Without MREMAP_FIXED the address
  // is a hint that the kernel takes.
  for (const char* flags : {"3", "5", "7"}) {
    CAPTURE(flags);
    CHECK(outcome(folder, fmt::format(fmt::runtime(move), flags, "0x10000")) == "done True");
  }
  CHECK(outcome(folder, fmt::format(fmt::runtime(move), "1", "None")) == "done False");
  for (const char* flags : {"3", "7"})
    CHECK(outcome(folder, fmt::format(fmt::runtime(move), flags, "0x20000000")) == "done False");
}

TEST_CASE("nothing is done to other processes, nor to the kernel") {
  if (skip_python() || skip_without(probe_sandbox().seccomp, "seccomp")) return;
  const testing::ScratchFolder folder;
  for (const char* how : {"os.kill(os.getppid(), 0)",
                          "os.kill(-1, 0)",
                          "os.kill(0, 0)",
                          "os.killpg(os.getpgrp(), 0)",
                          "call('ptrace', 16, os.getppid(), 0, 0)",
                          "call('ptrace', 0, 0, 0, 0)",
                          "call('tgkill', os.getppid(), os.getppid(), 0)",
                          "os.pidfd_open(os.getppid())",
                          "os.setsid()",
                          "os.setpgid(0, 0)",
                          "os.chroot('/tmp')",
                          "os.setuid(0)",
                          "call('mount', b'x', b'/mnt', b'tmpfs', 0, 0)",
                          "call('unshare', 0x10000000)",
                          "call('prctl', 1, 0, 0, 0, 0)",
                          "call('syscall', 425, 1, 0)",
                          "call('syscall', 321, 0, 0, 0)",
                          "call('keyctl', 0, 0)" /* no such function in libc */,
                          "call('personality', 0x40000)",
                          "resource.prlimit(os.getppid(), resource.RLIMIT_CPU)"}) {
    CAPTURE(how);
    CHECK_FALSE(outcome(folder, how).starts_with("done"));
  }
  CHECK(outcome(folder, "os.kill(os.getpid(), 0)").starts_with("done"));
}

TEST_CASE("people's files are not read") {
  if (skip_python() || skip_without(probe_sandbox().landlock > 0, "Landlock")) return;
  const testing::ScratchFolder folder;
  fs::create_directories(folder.path() + "/.ssh");
  std::ofstream(folder.path() + "/.ssh/id_ed25519") << "secret";
  CHECK(
      is_denied(outcome(folder, fmt::format("open('{}/.ssh/id_ed25519').read()", folder.path()))));
  CHECK(is_denied(outcome(folder, fmt::format("os.listdir('{}')", folder.path()))));
  CHECK(is_denied(outcome(folder, "os.listdir('/')")));
  for (const char* path :
       {"/etc/passwd", "/etc/shadow", "/etc/hosts", "/etc/machine-id", "/proc/1/status"}) {
    CAPTURE(path);
    CHECK_FALSE(outcome(folder, fmt::format("open('{}').read()", path)).starts_with("done"));
  }
  CHECK(is_denied(outcome(folder, "open('/proc/%d/environ' % os.getppid()).read()")));
  CHECK(is_denied(outcome(folder, "open('/proc/%d/cmdline' % os.getppid()).read()")));
  CHECK(outcome(folder, "len(open('/proc/self/status').read())").starts_with("done"));
  CHECK(outcome(folder, "len(open('/proc/cpuinfo').read())").starts_with("done"));
  // Not wanted, but so: Landlock has no right for it, and the page for users says it.
  CHECK(outcome(folder, fmt::format("os.stat('{}/.ssh/id_ed25519').st_size", folder.path())) ==
        "done 6");
}

TEST_CASE("a task starts with nothing of its parent") {
  if (skip_python()) return;
  const testing::ScratchFolder folder;
  const int inherited = ::open("/dev/null", O_RDONLY);  // no O_CLOEXEC
  REQUIRE(inherited >= 0);
  ::setenv("AXLE_TEST_SECRET", "x", 1);
  CHECK(outcome(folder, "sorted(os.environ)") == "done ['LANG', 'PATH']");
  // The listing itself is the one more.
  CHECK(outcome(folder, "os.listdir('/proc/self/fd')") == "done ['0', '1', '2', '3']");
  CHECK(outcome(folder, "sys.stdin.read()") == "done ''");
  CHECK(outcome(folder, "os.getcwd()") == "done '/'");
  CHECK(outcome(folder,
                "[l.split()[1] for l in open('/proc/self/status') if l.startswith(('CapEff', "
                "'CapPrm'))]") == "done ['0000000000000000', '0000000000000000']");
  CHECK(
      outcome(folder,
              "[l.split()[1] for l in open('/proc/self/status') if l.startswith('NoNewPrivs')]") ==
      "done ['1']");
  ::unsetenv("AXLE_TEST_SECRET");
  ::close(inherited);
}

TEST_CASE("only variables that are meant for the namespace reach it") {
  if (skip_python()) return;
  const testing::ScratchFolder folder;
  const Plugin plugin = folder.executable(
      fmt::format("print(sorted(os.environ), file=sys.stderr)\n{}", testing::answer));
  AskOptions options;
  options.environment = {{"CUDA_VISIBLE_DEVICES", "0"}, {"HOME", "/root"}, {"LD_PRELOAD", "x"}};
  CHECK(ask(plugin, options).printed == "['CUDA_VISIBLE_DEVICES', 'LANG', 'PATH']\n");
}

TEST_CASE("time ends, whatever the task does") {
  if (skip_python()) return;
  const testing::ScratchFolder folder;
  AskOptions options;
  options.limits.time = 300ms;
  for (const char* body : {"time.sleep(600)", "while True: pass",
                           "[signal.signal(s, signal.SIG_IGN) for s in (signal.SIGTERM, "
                           "signal.SIGINT, signal.SIGXCPU)]\n"
                           "time.sleep(600)",
                           "os.close(1); os.close(2)\ntime.sleep(600)",
                           "print('{}'); sys.stdout.flush()\ntime.sleep(600)"}) {
    CAPTURE(body);
    const auto start = std::chrono::steady_clock::now();
    const PluginAnswer answer = ask(folder.executable(body), options);
    REQUIRE_FALSE(answer.features.has_value());
    CHECK(answer.features.error().fault == PluginFault::timed_out);
    CHECK(std::chrono::steady_clock::now() - start < 60s);
  }
}

TEST_CASE("floods are cut off and what is kept of them is bounded") {
  if (skip_python()) return;
  const testing::ScratchFolder folder;
  for (const char* body :
       {"while True: os.write(1, b'x' * 65536)", "while True: os.write(2, b'x' * 65536)"}) {
    CAPTURE(body);
    const PluginAnswer answer = ask(folder.executable(body));
    REQUIRE_FALSE(answer.features.has_value());
    CHECK(answer.features.error().fault == PluginFault::flooded);
    CHECK(answer.printed.size() <= PluginLimits{}.printed);
  }
}

TEST_CASE("a crash is told by its signal") {
  if (skip_python()) return;
  const testing::ScratchFolder folder;
  const std::pair<const char*, const char*> cases[] = {
      {"os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"},
      {"os.abort()", "SIGABRT"},
      {"ctypes.string_at(0)", "SIGSEGV"}};
  for (const auto& [body, signal] : cases) {
    const PluginAnswer answer = ask(folder.executable(body));
    REQUIRE_FALSE(answer.features.has_value());
    CHECK(answer.features.error().fault == PluginFault::crashed);
    CHECK(answer.features.error().message.find(signal) != std::string::npos);
  }
}

TEST_CASE("no signal that ends a plugin passes for an answer") {
  if (skip_python()) return;
  const testing::ScratchFolder folder;
  for (int number = 1; number <= SIGRTMAX; ++number) {
    const int harmless[] = {SIGCHLD, SIGCONT, SIGURG,  SIGWINCH, SIGPIPE, SIGXFSZ, SIGSTOP,
                            SIGTSTP, SIGTTIN, SIGTTOU, SIGINT,   32,      33 /* the C library's */};
    if (std::ranges::find(harmless, number) != std::end(harmless)) continue;
    CAPTURE(number);
    const PluginAnswer answer = ask(folder.executable(
        fmt::format("{}\nsys.stdout.flush()\nos.kill(os.getpid(), {})", testing::answer, number)));
    REQUIRE_FALSE(answer.features.has_value());
    // SIGXCPU is how the kernel ends whoever has no parent left to do it.
    CHECK(answer.features.error().fault ==
          (number == SIGXCPU ? PluginFault::timed_out : PluginFault::crashed));
  }
}

TEST_CASE("an answer counts only from a task that ended well") {
  if (skip_python()) return;
  const testing::ScratchFolder folder;
  const PluginAnswer left = ask(folder.executable(fmt::format("{}\nsys.exit(4)", testing::answer)));
  REQUIRE_FALSE(left.features.has_value());
  CHECK(left.features.error().fault == PluginFault::exited);
  const PluginAnswer silent = ask(folder.executable("sys.exit(0)"));
  REQUIRE_FALSE(silent.features.has_value());
  CHECK(silent.features.error().fault == PluginFault::exited);
}

TEST_CASE("a program that is not there, or is none, is not started") {
  const testing::ScratchFolder folder;
  Plugin plugin{"acme", PluginKind::executable, "x", "/nowhere/at/all"};
  CHECK(ask(plugin).features.error().fault == PluginFault::not_started);
  plugin.place = folder.program("text", "not a program");
  const PluginAnswer answer = ask(plugin);
  CHECK(answer.features.error().fault == PluginFault::not_started);
  CHECK(answer.features.error().message.find("Exec format error") != std::string::npos);
}

TEST_CASE("many tasks run at once, and each gets its own answer") {
  if (skip_python()) return;
  const testing::ScratchFolder good;
  const testing::ScratchFolder bad;
  const Plugin plugins[] = {good.executable(testing::answer), bad.executable("os.abort()"),
                            good.executable(testing::answer)};
  AskOptions options;
  options.limits.time = 60s;
  const std::vector<PluginAnswer> answers = supported_by(plugins, options);
  REQUIRE(answers.size() == 3);
  CHECK(answers[0].features.has_value());
  CHECK_FALSE(answers[1].features.has_value());
  CHECK(answers[2].features.has_value());
}

TEST_CASE("probes of the table run, with Landlock saying which, and die with their group") {
  const SandboxSupport support = probe_sandbox();
  if (skip_python() || skip_without(support.landlock > 0 && support.seccomp, "Landlock")) return;
  const testing::ScratchFolder folder;
  const std::string probe = folder.program("probe", "#!/bin/sh\necho probed\n");
  const std::string lasting =
      folder.program("lasting", "#!/bin/sh\necho $$ >&2\nexec /bin/sleep 600\n");
  const std::string script = folder.program(
      "plugin", fmt::format("#!/usr/bin/python3\nimport os, subprocess, sys\n"
                            "print(subprocess.run(['{}'], capture_output=True, text=True).stdout)\n"
                            "for denied in ('/bin/ls', '/usr/bin/id'):\n"
                            "    try: subprocess.run([denied])\n"
                            "    except OSError as error: print(denied, error.errno)\n"
                            "try: open('/tmp/axle-test-new', 'w')\n"
                            "except OSError as error: print('write', error.errno)\n"
                            "child = subprocess.Popen(['{}'], stdin=subprocess.DEVNULL)\n"
                            "sys.stdout.flush()\n",
                            probe, lasting));
  ConfinedTask task;
  task.program = script;
  task.environment = {"PATH=/usr/bin:/bin"};
  task.limits.time = 60s;
  task.grants.readable = {folder.path()};
  task.grants.programs = {probe, lasting, "/bin/sleep"};
  const TaskResult result = std::move(run_confined({&task, 1}).front());
  CHECK_MESSAGE(result.end == TaskEnd::exited, result.why);
  CAPTURE(result.printed);
  CHECK(result.printed.find("probed") != std::string::npos);
  CHECK(result.printed.find("/bin/ls 13") != std::string::npos);
  CHECK(result.printed.find("/usr/bin/id 13") != std::string::npos);
  CHECK(result.printed.find("write 13") != std::string::npos);
}

TEST_CASE("whoever may make processes makes no namespaces of the kernel with them") {
  const SandboxSupport support = probe_sandbox();
  if (skip_python() || skip_without(support.landlock > 0 && support.seccomp, "Landlock")) return;
#ifdef SYS_clone
  const testing::ScratchFolder folder;
  ConfinedTask task;
  task.program = folder.program(
      "plugin",
      fmt::format(
          "#!/usr/bin/python3\nimport ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
          "for flags in (0x10000000, 0x20000, 0x40000000):\n"
          "    pid = libc.syscall({}, flags | 17, 0, 0, 0, 0)\n"
          "    if pid == 0: os._exit(0)\n"
          "    print(pid)\n",
          SYS_clone));
  task.environment = {"PATH=/usr/bin:/bin"};
  task.limits.time = 60s;
  task.grants.programs = {"/bin/true"};
  const TaskResult result = std::move(run_confined({&task, 1}).front());
  CHECK(result.printed == "-1\n-1\n-1\n");
#endif
}

TEST_CASE("no terminal: a task is in a session of its own") {
  if (skip_python()) return;
  const testing::ScratchFolder folder;
  CHECK(outcome(folder, "os.getsid(0) == os.getpid() == os.getpgrp()") == "done True");
  CHECK_FALSE(outcome(folder, "os.open('/dev/tty', os.O_RDONLY)").starts_with("done"));
}

TEST_CASE("a grandchild does not outlive its plugin") {
  const SandboxSupport support = probe_sandbox();
  if (skip_python() || skip_without(support.landlock > 0 && support.seccomp, "Landlock")) return;
  const testing::ScratchFolder folder;
  const std::string script = folder.program(
      "plugin",
      "#!/usr/bin/python3\nimport os, sys\npid = os.fork()\nif pid == 0:\n"
      "    import time\n    time.sleep(600)\nprint(pid)\nsys.stdout.flush()\nos._exit(0)\n");
  ConfinedTask task;
  task.program = script;
  task.environment = {"PATH=/usr/bin:/bin"};
  task.limits.time = 60s;
  task.grants.programs = {"/bin/true"};  // whoever may start one probe may fork
  const TaskResult result = std::move(run_confined({&task, 1}).front());
  REQUIRE_MESSAGE(result.end == TaskEnd::exited, result.why);
  const auto pid = static_cast<pid_t>(std::atoi(result.printed.c_str()));
  REQUIRE(pid > 1);
  for (int i = 0; i < 200 && is_running(pid); ++i) std::this_thread::sleep_for(10ms);
  CHECK_FALSE(is_running(pid));
}

namespace {

/// What a program sees of a kernel that has only `support`: one line an attempt.
std::string attempts_with(const SandboxSupport& support, bool with_probe) {
  const testing::ScratchFolder folder;
  ConfinedTask task;
  task.program = folder.program(
      "plugin",
      fmt::format("#!/usr/bin/python3\nimport os, socket, subprocess, sys\n{}"
                  "def sh(): return subprocess.run(['/bin/sh', '-c', 'true']).returncode\n"
                  "attempt('write', lambda: open('{}/new', 'w'))\n"
                  "attempt('read', lambda: open('/etc/passwd').read(1))\n"
                  "attempt('sh', sh)\n",
                  attempt.substr(0, attempt.find("libc =")), folder.path()));
  task.environment = {"PATH=/usr/bin:/bin"};
  task.limits.time = 60s;
  if (with_probe) task.grants.programs = {"/bin/sh"};
  const TaskResult result = std::move(run_confined({&task, 1}, support).front());
  CHECK_MESSAGE(result.end == TaskEnd::exited, result.why);
  return result.printed;
}

bool says(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

}  // namespace

TEST_CASE(
    "without Landlock nothing is written or started all the same, and no exception is granted") {
  const SandboxSupport support{0, true, {}};
  if (skip_python() || skip_without(probe_sandbox().seccomp, "seccomp")) return;
  for (const bool with_probe : {false, true}) {
    const std::string seen = attempts_with(support, with_probe);
    CAPTURE(seen);
    CHECK(says(seen, "write: PermissionError 13"));
    CHECK(says(seen, "sh: PermissionError"));
    CHECK(says(seen, "read: done"));
  }
}

TEST_CASE("without filters of system calls Landlock still says which files and programs") {
  const SandboxSupport support{probe_sandbox().landlock, false, {}};
  if (skip_python() || skip_without(support.landlock > 0, "Landlock")) return;
  const std::string seen = attempts_with(support, false);
  CAPTURE(seen);
  CHECK(says(seen, "write: PermissionError 13"));
  CHECK(says(seen, "read: PermissionError 13"));
  CHECK(says(seen, "sh: PermissionError"));
}

TEST_CASE("older Landlocks are spoken to in their own words") {
  const int newest = probe_sandbox().landlock;
  if (skip_python() || skip_without(newest > 0, "Landlock")) return;
  for (int abi = 1; abi <= newest; ++abi) {
    CAPTURE(abi);
    const std::string seen = attempts_with({abi, probe_sandbox().seccomp, {}}, true);
    CAPTURE(seen);
    CHECK(says(seen, "write: PermissionError 13"));
    CHECK(says(seen, "read: PermissionError 13"));
    CHECK(says(seen, "sh: done 0"));
  }
}
