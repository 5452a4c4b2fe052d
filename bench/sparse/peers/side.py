# What the sides written in Python share; side.h tells what a side answers.

import sys
import time

import numpy as np

folder, name = sys.argv[1:]


def array(file, dtype):
    return np.fromfile(f"{folder}/{name}.{file}", dtype=dtype)


def mix(x):
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)


def peak_kb():
    with open("/proc/self/status") as status:
        return next((line.split()[1] for line in status if line.startswith("VmHWM:")), "0")


def once(run):
    """The result, and milliseconds by the clock and of the processor."""
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    result = run()
    wall = time.perf_counter_ns() - wall
    cpu = time.process_time_ns() - cpu
    return result, wall / 1e6, cpu / 1e6


def burst(run, budget_ms):
    walls, cpus, start = [], [], time.perf_counter_ns()
    while True:
        spent = (time.perf_counter_ns() - start) / 1e6
        if walls and spent >= budget_ms and (len(walls) >= 2 or spent >= 4 * budget_ms):
            return sorted(walls), sorted(cpus)
        result, wall, cpu = once(run)
        walls.append(wall)
        cpus.append(cpu)
        del result


def describe_array(m):
    """The same of a dense vector or matrix, and of a sparse vector that is a matrix."""
    v = np.asarray(m.todense() if hasattr(m, "todense") else m)
    v = v.reshape(-1, 1) if 1 in v.shape or v.ndim == 1 else v
    place = np.arange(v.shape[0], dtype=np.uint64)[:, None] << np.uint64(32) | np.arange(v.shape[1], dtype=np.uint64)
    stored = v != 0
    h, v = mix(place[stored]), v[stored].astype(np.float64)
    weights = (h >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return f"{stored.size} 1 {int(np.sum(h, dtype=np.uint64)):016x} {float(np.sum(v))!r} {float(np.sum(v * weights))!r} {float(np.sum(np.abs(v)))!r}"


def serve(version, operations, describe):
    """Answers requests. An operation reads its operands and returns what one repetition does."""
    np.seterr(over="ignore")
    prepared, run = None, None
    print("ready", version, flush=True)
    for line in sys.stdin:
        verb, op, threads, seconds = line.split()
        if prepared != op:
            prepared, run = op, operations[op]()
        if verb == "check":
            result, wall, cpu = once(run)
            peak = peak_kb()
            print(op, name, f"{wall:.6f} {wall:.6f} 1 {cpu:.6f}", flush=True)
            print(describe(result), peak, flush=True)
            del result
        else:
            walls, cpus = burst(run, float(seconds) * 1e3)
            middle = len(walls) // 2
            print(op, name, f"{walls[middle]:.6f} {walls[0]:.6f} {len(walls)} {cpus[middle]:.6f}", flush=True)
