"""The process of `ObjectServer`: serves a folder, and obeys the lines that it gets on standard input.

    python -m course_utils.remote.serve '{"folder": "...", "delay": 0.03, "faults": []}'

The first line that it writes is `{"port": ...}`. It answers `record` and `reset` with the record, and exits
when its input ends: with the process that started it.
"""

import asyncio
import json
import sys
from pathlib import Path

from course_utils.remote.faults import Fault
from course_utils.remote.file_service import FileService

MOST_WAITING = 1024  # connections that are not accepted yet


async def serve(folder: Path, delay: float, faults: list[Fault]) -> None:
    """Serve a folder on a free port of this machine until the input ends."""
    service = FileService(folder, delay, faults)
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0, backlog=MOST_WAITING)
    _write({"port": server.sockets[0].getsockname()[1]})
    commands = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while command := await commands.readline():
        record = [service.count, service.nbytes, service.most_in_flight]
        if command == b"reset\n":
            service.clear()
        _write({"record": record})


def _write(message: object) -> None:
    sys.stdout.write(f"{json.dumps(message)}\n")
    sys.stdout.flush()


def main(settings: str) -> None:
    """Run the server, given its settings as JSON."""
    given = json.loads(settings)
    faults = [Fault(**fault) for fault in given["faults"]]
    asyncio.run(serve(Path(given["folder"]), given["delay"], faults))


if __name__ == "__main__":
    main(sys.argv[1])
