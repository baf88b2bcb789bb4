#include "installer/transaction/unbroken.h"

#include <atomic>

#include <signal.h>

namespace axle::installer {
namespace {

// Handlers see the process, not the call that they interrupt.
std::atomic<int> living = 0;
std::atomic<int> waiting = 0;
std::atomic<unsigned> changes = 0;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<unsigned>::is_always_lock_free);

}  // namespace

Unbroken::Unbroken() { ++living; }

Unbroken::~Unbroken() {
  if (--living > 0) return;
  if (const int signal = waiting.exchange(0); signal != 0) ::raise(signal);
}

bool must_wait(int signal) {
  if (living == 0) return false;
  waiting = signal;
  return true;
}

unsigned changes_made() { return changes; }

void count_change() { ++changes; }

}  // namespace axle::installer
