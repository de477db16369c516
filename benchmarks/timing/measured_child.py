"""Run the command given as arguments; print its exit code, wall time, CPU time and peak memory as JSON.

In a small process of its own, because Linux counts the memory of whoever starts a program towards that program's peak.
"""

import json
import resource
import subprocess
import sys
import time

UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes


def main() -> None:
    began = time.perf_counter()
    done = subprocess.run(sys.argv[1:], capture_output=True, text=True, check=False)  # noqa: S603  # the benchmark's own
    wall = time.perf_counter() - began
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * UNIT
    print(json.dumps({"code": done.returncode, "wall": wall, "cpu": cpu, "peak": peak, "errors": done.stderr[-500:]}))


if __name__ == "__main__":
    main()
