#!/usr/bin/env python3
"""Attacks the server of `lanewise explore`: without its token, from another site, by another name of the host, with
paths that leave the folder, and with bodies that are too large or never end. After each it still serves its user.

usage: attack.py PROGRAM
Exit code 77 where the program was built without cpp-httplib or d3.
"""
import json
import os
import pathlib
import shutil
import socket
import sys
import tempfile
import threading
import time

from served import Served

MACHINE = """lanewise: machine/1
machine: mine
sockets:
  - {socket: cpu0, part: epyc-9575f, numa: [{node: 0}], pcie: []}
"""


def attacks(server, folder, elsewhere):
    """Pairs of what was tried and whether it was turned away."""
    evaluate = {"file": "hgx-h100.yaml", "text": MACHINE, "want": ["machine"]}

    def refused(answer, *statuses):
        return answer[0] in statuses and server.token not in answer[1] and "root:" not in answer[1]

    yield "no token", refused(server.send(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()), 403)
    for token in ("", "0" * 32, server.token[:-1], server.token + "0", server.token.upper() + "x"):
        yield f"token '{token}'", refused(server.ask("/", token=token), 403)
        yield f"token '{token}' for /save", refused(server.ask("/save", {"file": "x.yaml", "text": MACHINE}, token=token), 403)
    yield "another site's page", refused(server.ask("/evaluate", evaluate, Origin="https://example.org"), 403)
    yield "another port's page", refused(server.ask("/evaluate", evaluate, Origin="http://127.0.0.1:1"), 403)
    yield "a page without origin", refused(server.ask("/evaluate", evaluate, Origin="null"), 403)
    yield "a link on another site", refused(server.ask("/", Sec_Fetch_Site="cross-site"), 403)
    yield "a form", refused(server.ask("/save", evaluate, Content_Type="text/plain"), 403)
    yield "a form with another origin's preflight", refused(
        server.ask("/save", method="OPTIONS", Origin="https://example.org", Access_Control_Request_Method="POST"), 403)
    yield "another name of the host", refused(server.ask("/", host=f"example.org:{server.port}"), 403)
    yield "no host", refused(server.send(f"GET /?token={server.token} HTTP/1.0\r\n\r\n".encode()), 403)

    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/explore/server.cpp", "/open"):
        yield f"GET {path}", refused(server.ask(path), 400, 404)
    for name in ("/etc/passwd", "../theirs.yaml", str(elsewhere / "theirs.yaml"), "linked/theirs.yaml", "link.yaml",
                 ".hidden.yaml", "a/../../theirs.yaml", "/dev/zero", "/proc/self/environ", "x\u0000.yaml"):
        yield f"open {name!r}", refused(server.ask("/open", {"name": name}), 400)
        yield f"save {name!r}", refused(server.ask("/save", {"file": name, "text": MACHINE, "replace": True}), 400)
    cluster = "lanewise: cluster/1\ncluster: c\nnodes: [{{count: 2, machine: '{}'}}]\n"
    yield "a cluster of a machine by its path", "is not a name" in server.ask(
        "/evaluate", {"file": "c.yaml", "text": cluster.format(elsewhere / "theirs.yaml"), "want": []})[1]
    yield "a cluster file outside", "outside the folders" in server.ask(
        "/evaluate", {"file": f"{elsewhere}/c.yaml", "text": cluster.format("theirs.yaml"), "want": []})[1]

    yield "a large body", refused(server.ask("/evaluate", b" " * (2 << 20)), 413)
    yield "a large body that is not sent", refused(
        server.send(f"POST /save?token={server.token} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                    f"Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n".encode()), 413, 400, 0)
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    yield "a large body in chunks", refused(
        server.send(f"POST /evaluate?token={server.token} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                    f"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".encode() + chunk * 64), 413, 400, 0)
    yield "a long address", refused(server.ask("/" + "a" * 20000), 414, 400, 403, 0)
    yield "no HTTP", server.send(b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03")[0] in (0, 400)
    for body in (b"", b"{", b"[]", b"null", b"7", b'{"want": 7}', b'{"file": {}}', b"\xff\xfe", b"[" * 100000,
                 b'{"text": "a", "file": "b", "want": ["shell"]}'):
        yield f"the request {body[:40]!r}", refused(server.ask("/evaluate", body), 400)
    deep = "a: " + "[" * 50000
    yield "a deep text", "error" in server.ask("/evaluate", {"file": "a.yaml", "text": deep, "want": []})[1]
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n" for before, name in zip("abcdefghij", "bcdefghijk"))
    yield "a text of aliases of aliases", "error" in server.ask(
        "/evaluate", {"file": "a.yaml", "text": "lanewise: machine/1\n" + bomb, "want": []})[1]


def gives_way(server):
    """Whether an answer that takes seconds is given up when another one is wanted."""
    opened = json.loads(server.ask("/open", {"name": "gb200-nvl72-8"})[1].split("\r\n\r\n", 1)[1])
    request = {"file": opened["file"], "text": opened["text"], "want": ["jobs"]}
    first = []
    asking = threading.Thread(target=lambda: first.append(server.ask("/evaluate", request, seconds=100)[0]))
    asking.start()
    time.sleep(1)
    second = server.ask("/evaluate", {**request, "want": ["machine"]})[0]
    asking.join()
    return first == [503] and second == 200


def main():
    program = os.path.abspath(sys.argv[1])
    top = pathlib.Path(tempfile.mkdtemp(prefix="lanewise-explore-"))
    folder, elsewhere = top / "working", top / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    theirs = elsewhere / "theirs.yaml"
    for file in (theirs, top / "theirs.yaml", folder / ".hidden.yaml"):
        file.write_text(MACHINE + "# theirs\n")
    (folder / "linked").symlink_to(elsewhere)
    (folder / "link.yaml").symlink_to(theirs)
    failures = 0
    server = Served(program, folder)
    try:
        stalled = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(3)]
        for one in stalled:
            one.sendall(b"POST /save")  # and no more
        for what, is_refused in attacks(server, folder, elsewhere):
            if not is_refused:
                print(f"not refused: {what}")
                failures += 1
        for one in stalled:
            one.close()
        if not gives_way(server):
            print("an old answer does not give way to a new one")
            failures += 1
        status, text = server.ask("/open", {"name": "hgx-h100"})
        if status != 200 or "lanewise: machine/1" not in text:
            print("it serves its user no more")
            failures += 1
        left = sorted(str(path.relative_to(top)) for path in top.rglob("*"))
        if left != ["elsewhere", "elsewhere/theirs.yaml", "theirs.yaml", "working", "working/.hidden.yaml",
                    "working/link.yaml", "working/linked"] or theirs.read_text() != MACHINE + "# theirs\n":
            print(f"files changed: {left}")
            failures += 1
        if (code := server.stop()) != 0:
            print(f"Ctrl-C ended it with {code}")
            failures += 1
    finally:
        server.process.kill()
        shutil.rmtree(top, ignore_errors=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
