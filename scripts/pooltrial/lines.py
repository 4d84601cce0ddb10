# SPDX-License-Identifier: GPL-2.0
"""JSON lines on a unix socket, as gpupoold, the guest's agent and the emulators speak them, and QMP: requests, and answers that may come
after events."""

import itertools
import json
import socket
import time


class Trouble(Exception):
    """A row fails: one line says why."""


class Gone(Trouble):
    """The other end is not there, or ended in the middle."""


class Refused(Trouble):
    def __init__(self, answer):
        self.code = answer.get("code", "")
        super().__init__(f"{self.code or 'refused'}: {answer.get('error', '?')}")


def wait_until(look, awaited, seconds, pause=0.05):
    """What look() says once that is something. For what sends no event."""
    deadline = time.monotonic() + seconds
    while True:
        seen = look()
        if seen:
            return seen
        if time.monotonic() > deadline:
            raise Trouble(f"waited {seconds:.0f} s for {awaited}")
        time.sleep(pause)


class Lines:
    # Of all connections: the guest's agent may still answer a request of the one before.
    numbers = itertools.count(1)

    def __init__(self, path, seconds=10):
        self.path, self.rest = path, b""
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(seconds)
        deadline = time.monotonic() + seconds
        while True:
            try:
                self.socket.connect(str(path))
                return
            except (FileNotFoundError, ConnectionRefusedError, BlockingIOError, TimeoutError) as error:
                if time.monotonic() > deadline:
                    self.socket.close()
                    raise Gone(f"{path}: {error}") from error
                time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, message):
        try:
            self.socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise Gone(f"{self.path}: {error}") from error

    def receive(self, seconds):
        deadline = time.monotonic() + seconds
        while b"\n" not in self.rest:
            self.socket.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                more = self.socket.recv(1 << 16)
            except TimeoutError as error:
                raise Gone(f"{self.path}: no answer in {seconds:.0f} s") from error
            except OSError as error:
                raise Gone(f"{self.path}: {error}") from error
            if not more:
                raise Gone(f"{self.path}: the other end is gone")
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def ask(self, do, seconds=30, **members):
        """The answer when it is `ok`."""
        number = next(Lines.numbers)
        self.send({"id": number, "do": do, **members})
        deadline = time.monotonic() + seconds
        while True:
            answer = self.receive(max(deadline - time.monotonic(), 0.001))
            if answer.get("id") == number and "event" not in answer:
                if not answer.get("ok"):
                    raise Refused(answer)
                return answer


class Qmp(Lines):
    """QEMU's monitor, which has one client: gpupoold, while it runs."""

    def __init__(self, path, seconds=10):
        super().__init__(path, seconds)
        self.receive(seconds)  # its greeting
        self.execute("qmp_capabilities")

    def execute(self, command, **arguments):
        self.send({"execute": command, "arguments": arguments})
        while True:
            answer = self.receive(10)
            if "error" in answer:
                raise Refused({"code": answer["error"]["class"], "error": answer["error"]["desc"]})
            if "return" in answer:
                return answer["return"]
