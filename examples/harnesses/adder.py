"""
A `process` harness: no shell starts it and none runs in its job. It reads the case, runs its agent, and prints the
result record itself. Its agent adds the numbers in the task; put your own in its place.
"""
import json
import os
import signal
import subprocess
import sys
import time

AGENT = [sys.executable, "-c", "import re, sys; print(sum(int(n) for n in re.findall(r'[0-9]+', sys.stdin.read())))"]


def take_nonce():
    """Only exec replaces the environment that others can read in /proc, so the nonce goes through a pipe."""
    if "EVERDICT_NONCE" in os.environ:
        inlet, outlet = os.pipe()
        os.write(outlet, os.environ.pop("EVERDICT_NONCE").encode())
        os.close(outlet)
        os.set_inheritable(inlet, True)
        os.environ["NONCE_PIPE"] = str(inlet)
        os.execv(sys.executable, sys.orig_argv)
    with os.fdopen(int(os.environ.pop("NONCE_PIPE"))) as pipe:
        return pipe.read()


def write_files(files):
    for path, content in files.items():
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else bytes.fromhex(content["hex"]))


def run_agent(task):
    agent = subprocess.Popen(AGENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    answer, _ = agent.communicate(task.encode())
    try:
        os.killpg(agent.pid, signal.SIGKILL)  # whatever it left
    except ProcessLookupError:
        pass
    return agent.returncode % 256, answer


def print_record(nonce, entries):
    lines = [*entries, ("end", len(entries) + 1)]
    text = "".join(f"__EVERDICT_RESULT__ {nonce} {key} {value}\n" for key, value in lines)
    sys.stdout.write("\n" + text)
    sys.stdout.flush()


nonce = take_nonce()
with open(os.path.join(sys.argv[-1], "job.json"), encoding="utf-8") as file:
    job = json.load(file)
write_files(job["files"])
begun = time.monotonic()
status, answer = run_agent(job["task"])
took_ms = round((time.monotonic() - begun) * 1000)
kept = answer[: job["answerLimit"]]
usage = json.dumps({"steps": 1}).encode()

# Until it is stopped: what was printed can then be collected.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print_record(nonce, [
    ("version", 1),
    ("status", status),
    ("timer", "none"),
    ("setup_ms", 0),
    ("command_ms", took_ms),
    ("answer_from", "stdout"),
    ("answer_bytes", len(answer)),
    ("answer_cut", int(len(kept) < len(answer))),
    *(("answer", kept[at : at + 1024].hex()) for at in range(0, len(kept), 1024)),
    ("usage_cut", 0),
    ("usage", usage.hex()),
    ("leftovers", 0),
])
time.sleep(job["lingerSec"])
