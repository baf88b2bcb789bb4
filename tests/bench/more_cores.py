"""How long a cold installation of one large wheel takes on more cores than this machine has: a model of what was measured stage by stage.

The installer's own order of work (installer/store/streamed_unpacking.h) is played through with the processor time that each stage took for
each member: one thread receives and hashes the wheel into a window, on many cores into a file when that is full; others unpack one member
each, in the order of the file, and wait for bytes that have not come; a large member is hashed and written by a thread behind the one that
inflates it, or by two. What comes before and after
(the start, the index's answers, links, the record of the change) is a whole warm installation as it was measured here, on fewer cores.
"""

import dataclasses
import heapq
import os
import pathlib
import subprocess
import sys
import threading
import time
import urllib.request

# As in installer/store: streamed_unpacking.cpp, member_writer.cpp.
WINDOW = 16 << 20
MOST_THREADS = 8
WORTH_A_FILE = 8  # cores
WORTH_FOLLOWER = 8 << 20
WORTH_TWO_FOLLOWERS = 4  # cores
PIECE = 64 << 10


@dataclasses.dataclass
class Member:
    begin: int
    end: int
    size: int
    inflating: float
    hashing: float
    writing: float


@dataclasses.dataclass
class Stages:
    """Seconds of processor time."""
    wheel_bytes: int
    hashing: float
    receiving: float
    members: list
    storing: float = 0.0  # the whole wheel, in a file

    def total(self):
        return self.hashing + self.receiving + sum(one.inflating + one.hashing + one.writing for one in self.members)


def receive(url):
    """Processor time of one thread that takes the file from its server into one buffer."""
    buffer = bytearray(1 << 18)
    with urllib.request.urlopen(url) as answer:
        begin = time.thread_time()
        while answer.readinto(buffer):
            pass
        return time.thread_time() - begin


def measure_stages(program, wheel, url, folder):
    done = subprocess.run([str(program), str(wheel), str(folder)], capture_output=True, text=True, check=True)
    first, *rest = done.stdout.splitlines()
    size, hashing, storing = first.split()
    members = []
    for line in rest:
        begin, end, unpacked, *seconds = line.split()
        members.append(Member(int(begin), int(end), int(unpacked), *(float(word) for word in seconds)))
    return Stages(int(size), float(hashing), receive(url), members, float(storing))


def streamed(stages, cores):
    """Seconds until all is received and unpacked, with a core for each thread."""
    has_file = cores >= WORTH_A_FILE
    # As if the window was full from the beginning.
    per_byte = (stages.receiving + stages.hashing + (stages.storing if has_file else 0)) / stages.wheel_bytes
    free = [0.0] * min(cores, MOST_THREADS)
    arrived_bytes, arrived, end_of_all = 0, 0.0, 0.0
    consumed = []  # (offset, when everything before it was read), ascending in both
    oldest, read_until = 0, 0.0

    def receive_to(offset):
        """When the byte before `offset` is there: the window has to have room for it."""
        nonlocal arrived_bytes, arrived, oldest
        if offset > arrived_bytes:
            while oldest < len(consumed) and consumed[oldest][0] < offset - WINDOW:
                oldest += 1
            room = consumed[oldest - 1][1] if oldest and not has_file else 0.0
            arrived = max(arrived, room) + (offset - arrived_bytes) * per_byte
            arrived_bytes = offset
        return arrived

    for member in stages.members:
        pieces = max(1, -(-(member.end - member.begin) // PIECE))
        followed = member.size >= WORTH_FOLLOWER
        now = max(heapq.heappop(free), receive_to(min(member.begin + PIECE, member.end)))
        hashed = behind = now
        for piece in range(1, pieces + 1):
            offset = min(member.begin + piece * PIECE, member.end)
            now = max(now, receive_to(offset)) + member.inflating / pieces
            hashed = max(hashed if cores >= WORTH_TWO_FOLLOWERS else behind, now) + member.hashing / pieces
            behind = max(behind, hashed) + member.writing / pieces
            if not followed:
                now = hashed = behind
            read_until = max(read_until, now)
            consumed.append((offset, read_until))
        heapq.heappush(free, max(now, behind))
        end_of_all = max(end_of_all, now, behind)
    return max(end_of_all, receive_to(stages.wheel_bytes))


def busiest_thread(command, environment):
    """Seconds of processor time of that thread of the command that takes most: it bounds the command on any number of cores."""
    times = {}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        ended = threading.Event()

        def watch():
            tasks = pathlib.Path(f"/proc/{process.pid}/task")
            while not ended.wait(0.02):
                try:
                    for thread in os.listdir(tasks):
                        times[thread] = int((tasks / thread / "schedstat").read_text().split()[0]) / 1e9
                except OSError:
                    continue  # it ended between the two calls

        watcher = threading.Thread(target=watch)
        watcher.start()
        process.wait()
        ended.set()
        watcher.join()
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} failed with status {process.returncode}")
    return max(times.values())
