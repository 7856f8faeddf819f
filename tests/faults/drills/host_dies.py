"""The host is killed while the sidecar serves it."""
import os
import signal
import subprocess
import sys
import time

GUARANTEE = "after the host is killed, the sidecar ends soon and leaves no process"

HOST = """
import subprocess, sys, time
child = subprocess.Popen([sys.argv[1], "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"session/state","params":{}}\\n'); child.stdin.flush()
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(600)
"""


def drill(sandbox):
    times = sandbox.many(50, 5)
    slowest = 0.0
    for _ in range(times):
        host = subprocess.Popen([sys.executable, "-c", HOST, sandbox.binary], stdout=subprocess.PIPE)
        sidecar = int(host.stdout.readline())
        os.kill(host.pid, signal.SIGKILL)
        host.wait()
        host.stdout.close()
        started = time.monotonic()
        while is_alive(sidecar):
            assert time.monotonic() - started < 10, f"sidecar {sidecar} lives on"
            time.sleep(0.005)
        slowest = max(slowest, time.monotonic() - started)
    return f"{times} hosts killed, every sidecar gone within {slowest * 1000:.0f} ms"


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
