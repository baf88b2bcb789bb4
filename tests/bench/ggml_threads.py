"""ggml's threads, each on a CPU of its own: unpinned, two that spin may share one."""

import ctypes
import os


class Options(ctypes.Structure):
    """ggml_threadpool_params of ggml.h."""

    _fields_ = [("cpus", ctypes.c_bool * 512), ("threads", ctypes.c_int), ("priority", ctypes.c_int), ("poll", ctypes.c_uint32),
                ("strict", ctypes.c_bool), ("paused", ctypes.c_bool)]


def pinned_pool(ggml, count):
    """A pool of libggml-cpu, of `count` threads with this one, which is pinned too."""
    cpus = sorted(os.sched_getaffinity(0))[:count]
    options = Options(threads=count, poll=50, strict=True)
    for cpu in cpus:
        options.cpus[cpu] = True
    ggml.ggml_threadpool_new.restype = ctypes.c_void_p
    pool = ctypes.c_void_p(ggml.ggml_threadpool_new(ctypes.byref(options)))
    os.sched_setaffinity(0, {cpus[-1]})  # of this thread: ggml gives the others theirs first, in order
    return pool
