"""Hostile mechanisms and outputs: what an audit with a time limit says of them, and what reached its process.

Usage: python scripts/attack.py boundary

Each attack runs in interpreters of its own, which audit one mechanism, with `timeout` and as commands do with one and
two processes (which have no time limit, so that what never ends is left out), and is given a minute. It fails
if it ends in a traceback, hangs, or if something foreign happened in the process that audits: a marker file names the
process that ran an output's method, and standard output must hold the answer alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TIMEOUT = 0.5
PATIENCE = 60

PRELUDE = """
import ctypes, os, signal, sys, threading, time
import numpy as np
import dpaudit
AUDITOR = os.getpid()
def reached(what):
    "Note that a method of an output was called, and in which process."
    with open("reached", "a") as file:
        file.write(f"{'auditor' if os.getpid() == AUDITOR else 'worker'} {what}\\n")
def rarely():
    "Say yes in one of 64 runs: where each takes its whole time limit, an audit is slow and does not hang."
    return os.urandom(1)[0] < 4
def coin(data, rng):
    return data + int(rng.integers(2))
"""

AUDIT = """
try:
    found = dpaudit.audit_privacy(mechanism, [(0, 1)], epsilon=1.0, trials=200, seed=1, {how})
    said = str(found).splitlines()[0]
except dpaudit.DpauditError as error:
    said = f"{{type(error).__name__}}: {{error}}"
os.write(1, said.replace("\\n", " ")[:160].encode())
"""

OBJECT = """
class Output:
    def __init__(self, value): self.value = value
    {method}
def mechanism(data, rng):
    return Output(coin(data, rng))
"""

SLOTS = OBJECT.replace("self.value = value", "pass")
"""An output without attributes, whose `repr` is asked for."""

ATTACKS = {
    "repr sleeps": SLOTS.format(method="def __repr__(self): reached('repr'); time.sleep(100 * rarely()); return 'x'"),
    "repr raises": SLOTS.format(method="def __repr__(self): reached('repr'); raise OSError('no')"),
    "repr exits": SLOTS.format(method="def __repr__(self): reached('repr'); sys.exit(0)"),
    "repr interrupts": SLOTS.format(method="def __repr__(self): reached('repr'); raise KeyboardInterrupt"),
    "repr ends the process": SLOTS.format(method="def __repr__(self): reached('repr'); os._exit(0)"),
    "repr without end": SLOTS.format(method="def __repr__(self): return 'x' * 10 ** (10 * rarely())"),
    "__class__ lies: int": OBJECT.format(method="__class__ = int"),
    "__class__ lies: no class": OBJECT.format(method="__class__ = 5"),
    "__class__ raises": OBJECT.format(method="__class__ = property(lambda self: 1 / 0)"),
    "__dict__ raises": OBJECT.format(method="__dict__ = property(lambda self: 1 / 0)"),
    "__getattribute__ raises": OBJECT.format(method="def __getattribute__(self, name): reached(name); raise OSError"),
    "__reduce__ runs a command": OBJECT.format(
        method='def __reduce__(self): return os.system, ("echo auditor reduce >> reached",)'
    ),
    "__setstate__": OBJECT.format(method="def __setstate__(self, state): reached('setstate')"),
    "__eq__ and __hash__ raise": """
class Key:
    def __eq__(self, other): reached('eq'); raise OSError
    def __hash__(self): reached('hash'); return 1
def mechanism(data, rng): return {Key(): coin(data, rng)}
""",
    "__hash__ raises later": """
class Key:
    asked = 0
    def __hash__(self):
        self.asked += 1
        if self.asked > 1: raise OSError
        return 1
def mechanism(data, rng): return {Key()}
""",
    "__del__ sleeps": OBJECT.format(method="def __del__(self): time.sleep(100 * rarely())"),
    "__del__ writes": OBJECT.format(method="def __del__(self): reached('del')"),
    "__del__ raises": OBJECT.format(method="def __del__(self): raise OSError"),
    "metaclass lies": """
class Meta(type):
    def __getattribute__(self, name):
        if name in ('__qualname__', '__module__'): raise OSError
        return type.__getattribute__(self, name)
    def __hash__(self): raise OSError
class Output(metaclass=Meta): pass
def mechanism(data, rng): return Output()
""",
    "an exception whose text raises": """
class Error(Exception):
    def __str__(self): reached('str'); raise OSError
def mechanism(data, rng): raise Error
""",
    "an exception whose text sleeps": """
class Error(Exception):
    def __str__(self): time.sleep(100 * rarely()); return 'x'
def mechanism(data, rng): raise Error
""",
    "a warning with code": """
import warnings
class Mean(UserWarning):
    def __init__(self, *args): reached('warning')
def mechanism(data, rng): warnings.warn('text', Mean); return coin(data, rng)
""",
    "a flattener that raises": """
class Output: pass
dpaudit.register_flattener(Output, lambda output: 1 / 0)
def mechanism(data, rng): return Output()
""",
    "cyclic list": "def mechanism(data, rng):\n    held = []; held.append(held); return held\n",
    "cyclic object": "class Node: pass\ndef mechanism(data, rng):\n    node = Node(); node.next = node; return node\n",
    "a list of lists of lists ... 2^60 leaves": """
def mechanism(data, rng):
    held = [1]
    for _ in range(60 * rarely()): held = [held, held]
    return held
""",
    "not picklable": "def mechanism(data, rng): return threading.Lock()\n",
    "a local class": "def mechanism(data, rng):\n    class Local: x = 1\n    one = Local(); one.y = 2; return one\n",
    "an integer of 10,000 digits": "def mechanism(data, rng): return 10**10_000 + coin(data, rng)\n",
    "half of a surrogate pair": "def mechanism(data, rng): return '\\ud800' * (1 + coin(data, rng))\n",
    "C printf": """
def mechanism(data, rng):
    ctypes.CDLL(None).printf(b'garbage'); ctypes.CDLL(None).fflush(None); return coin(data, rng)
""",
    "print and write to 1": """
def mechanism(data, rng): print('garbage'); os.write(1, b'garbage'); return coin(data, rng)
""",
    "chdir": "def mechanism(data, rng): os.chdir('/'); return coin(data, rng)\n",
    "threads": """
def mechanism(data, rng):
    if threading.active_count() < 5: threading.Thread(target=time.sleep, args=(1000,)).start()
    return coin(data, rng)
""",
    "grandchildren": """
def mechanism(data, rng):
    if not rng.integers(100) and not os.fork():
        time.sleep(5); os._exit(0)
    return coin(data, rng)
""",
    "a grandchild that returns": "def mechanism(data, rng): os.fork(); return coin(data, rng)\n",
    "os._exit": "def mechanism(data, rng): os._exit(0)\n",
    "a signal without name": "def mechanism(data, rng): os.kill(os.getpid(), 40)\n",
    "segmentation fault": "def mechanism(data, rng): ctypes.string_at(0)\n",
    "a huge output": "def mechanism(data, rng): return np.zeros(10 ** (12 * rarely()))\n",
    "a huge list": "def mechanism(data, rng): return [0] * 10 ** (9 * rarely())\n",
    "garbage in every descriptor": """
def mechanism(data, rng):
    for number in range(3, 64):
        try: os.write(number, os.urandom(64))
        except OSError: pass
    return coin(data, rng)
""",
    "a forged answer": """
import struct
def mechanism(data, rng):
    for number in range(3, 64):
        try: os.write(number, struct.pack('!Q', 3) + b'vabc')
        except OSError: pass
    return coin(data, rng)
""",
    "a forged pickle": """
import pickle, struct
class Run:
    def __reduce__(self): return os.system, ("echo auditor pickle >> reached",)
def mechanism(data, rng):
    content = pickle.dumps(Run())
    for number in range(3, 64):
        for kind in (b'p', b'v', b'e'):
            try: os.write(number, struct.pack('!Q', len(content)) + kind + content)
            except OSError: pass
    return coin(data, rng)
""",
    "a forged size": """
import struct
def mechanism(data, rng):
    for number in range(3, 64):
        try: os.write(number, struct.pack('!Q', 2**63))
        except OSError: pass
    return coin(data, rng)
""",
    "parts without end": """
import struct
def mechanism(data, rng):
    while True:
        for number in range(3, 16):
            try: os.write(number, struct.pack('!Q', 1) + b'pa')
            except OSError: pass
""",
    "closes every descriptor": "def mechanism(data, rng): os.closerange(3, 64); return coin(data, rng)\n",
}


WAYS = {
    "time limit": (f"timeout={TIMEOUT}", ""),
    "command": ("n_jobs=1", "import dpaudit.running.processes\ndpaudit.running.processes.keep_apart()\n"),
    "two jobs": ("n_jobs=2", "import dpaudit.running.processes\ndpaudit.running.processes.keep_apart()\n"),
}
"""Arguments of the audit, and what is called before it."""


def main() -> int:
    """Run all attacks, print what was said, and return how many passed the boundary."""
    passed = 0
    tried = [(*one, way) for one in ATTACKS.items() for way in WAYS if way == "time limit" or "rarely" not in one[1]]
    for name, mechanism, way in tried:
        how, before = WAYS[way]
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "attack.py").write_text(PRELUDE + mechanism + before + AUDIT.format(how=how))
            began = time.monotonic()
            command = [sys.executable, "-W", "ignore", "attack.py"]
            paths = os.pathsep.join(filter(None, (str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH"))))
            given = {"cwd": folder, "env": {**os.environ, "PYTHONPATH": paths}, "capture_output": True}
            try:
                done = subprocess.run(command, timeout=PATIENCE, **given)  # type: ignore[call-overload]
                said = done.stdout.decode(errors="replace")
                wrong = [f"status {done.returncode}"] * bool(done.returncode)
                wrong += ["a traceback"] * (b"Traceback" in done.stderr and "__del__" not in name)
            except subprocess.TimeoutExpired:
                said = ""
                wrong = ["it hangs"]
            marks = Path(folder, "reached")
            lines = marks.read_text().splitlines() if marks.exists() else []
            wrong += sorted({line for line in lines if line.startswith("auditor")})
            wrong += ["standard output"] * ("garbage" in said)
        passed += bool(wrong)
        verdict = "PASSED" if wrong else "held"
        took = time.monotonic() - began
        print(f"{verdict:6} {took:5.1f} s  {way}, {name}: {said} {'; '.join(wrong)}", flush=True)
    print(f"{passed} of {len(tried)} attacks passed the boundary")
    return min(passed, 1)
