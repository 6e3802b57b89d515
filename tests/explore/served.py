"""The server of `lanewise explore` at work, for tests."""
import json
import signal
import socket
import subprocess
import sys

SKIPPED = 77  # the exit code where the program was built without cpp-httplib or d3


class Served:
    """The program at work in a folder, and one way to send it anything."""

    def __init__(self, program, folder, machine="hgx-h100"):
        self.process = subprocess.Popen([program, "explore", machine, "--json"], cwd=folder, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        lines = []
        while not lines or lines[-1] != "}\n":
            lines.append(self.process.stdout.readline())
            if lines[-1] == "":
                problem = self.process.stderr.read()
                print(problem)
                sys.exit(SKIPPED if self.process.wait() == 3 and "was built without" in problem else 1)
        self.address = json.loads("".join(lines))["address"]
        self.port = int(self.address.split(":")[2].split("/")[0])
        self.token = self.address.split("token=")[1]

    def send(self, data, seconds=20):
        """The answer to these bytes: its status, or 0 where the connection ends without one, and all of its text."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            answer = b""
            try:
                connection.sendall(data)
                while piece := connection.recv(65536):
                    answer += piece
            except OSError:  # closed while the rest of a large body was under way
                pass
        words = answer.split(b" ", 2)
        return int(words[1]) if len(words) > 1 else 0, answer.decode(errors="replace")

    def ask(self, path, body=None, token=None, method=None, host=None, seconds=20, **headers):
        """An HTTP request; a dictionary is sent as JSON."""
        token = self.token if token is None else token
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = [f"{method or ('GET' if body is None else 'POST')} {path}?token={token} HTTP/1.1",
                 f"Host: {host or f'127.0.0.1:{self.port}'}", f"Content-Length: {len(data)}"]
        if body is not None and "Content_Type" not in headers:
            lines.append("Content-Type: application/json")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        return self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + data, seconds)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=20)
