"""A program that speaks the guard protocol and then does one thing wrong: python guards.py FAULT SESSION [LOG].

It runs every call, and writes what it is told to LOG. The fault comes at the second batch of sessions whose id holds SESSION.
"""

import json
import os
import sys
import time


def main(fault: str, at_session: str, log: str = os.devnull) -> None:
    for line in sys.stdin:
        with open(log, "a") as told:
            told.write(line)
        message = json.loads(line)
        if message["type"] == "hello":
            say({"type": "hello", "protocol": 2 if fault == "other-protocol" else 1})
        if message["type"] == "batch":
            answer = {
                "type": "decisions",
                "session": message["session"],
                "batch": message["batch"],
                "decisions": ["execute"] * len(message["calls"]),
            }
            if message["batch"] == 2 and at_session in message["session"]:
                misbehave(fault, answer)
            say(answer)


def misbehave(fault: str, answer: dict[str, object]) -> None:
    match fault:
        case "none":
            pass
        case "crash":
            print("no such key: fingerprint", file=sys.stderr, flush=True)
            sys.exit(7)
        case "killed":
            os.kill(os.getpid(), 9)
        case "hang":
            time.sleep(600)
        case "hang-with-a-child":
            os.spawnlp(os.P_WAIT, "sleep", "sleep", "600")
        case "flood":
            while True:
                sys.stdout.write("x" * 65536)
        case "flood-of-lines":
            while True:
                sys.stdout.write("{}\n")
        case "flood-of-errors":
            while True:
                sys.stderr.write("x" * 65536)
        case "garbage":
            print("Listening on port 3000", flush=True)
        case "other-batch":
            answer["batch"] = 1
        case "other-session":
            answer["session"] = "somebody-else"
        case "too-few":
            answer["decisions"] = []
        case "no-decision":
            answer["decisions"] = ["perhaps"]
        case "closes-its-output":
            os.close(1)
            time.sleep(600)
        case "reads-no-more":
            os.close(0)
            time.sleep(600)
        case _:
            raise ValueError(fault)


def say(message: dict[str, object]) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
