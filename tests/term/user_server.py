"""A user's server on a JupyterHub, used as their browser does: its terminal, its kernels."""

import json
import re
import time
import uuid
from typing import Any

import requests
import websocket

END = re.compile(r"@@(\d+)@@")
SECONDS = 300  # for one command or cell


class UserServer:
    """The server of a user, which starts when this object is made.

    Args:
        hub: The Hub's address.
        user: The account.
        token: Of a service that may start servers and use them.
    """

    def __init__(self, hub: str, user: str, token: str) -> None:
        self.address, self.token = f"{hub}/user/{user}", token
        api = f"{hub}/hub/api/users/{user}"
        assert self._request("POST", api).status_code in (201, 409)  # a new user, or one who is there
        assert self._request("POST", f"{api}/server").status_code in (201, 202)
        for _ in range(SECONDS):
            if (self._request("GET", api).json().get("servers") or {}).get("", {}).get("ready"):
                return
            time.sleep(1)
        raise AssertionError(f"the server of {user} did not start")

    def _request(self, method: str, address: str, **options: Any) -> requests.Response:
        headers = {"Authorization": f"token {self.token}"}
        return requests.request(method, address, headers=headers, timeout=SECONDS, **options)

    def _socket(self, path: str) -> websocket.WebSocket:
        address = f"{self.address}/{path}".replace("http", "ws", 1)
        return websocket.create_connection(
            address, timeout=SECONDS, header=[f"Authorization: token {self.token}"]
        )

    def kernels(self) -> dict[str, str]:
        """Return the names that JupyterLab shows of the kernels, by the names that notebooks use."""
        found = self._request("GET", f"{self.address}/api/kernelspecs").json()["kernelspecs"]
        return {name: one["spec"]["display_name"] for name, one in found.items()}

    def terminal(self, *commands: str) -> tuple[int, str]:
        """Type commands into a new terminal; return the status of the last that ran, and what was shown."""
        name = self._request("POST", f"{self.address}/api/terminals").json()["name"]
        socket = self._socket(f"terminals/websocket/{name}")
        shown = ""
        try:
            line = f"{' && '.join(commands)}; printf '@@%s@@' $?"
            socket.send(json.dumps(["stdin", f"{line}\r"]))
            while not (end := END.search(shown)):
                kind, *content = json.loads(socket.recv())
                shown += content[0] if kind == "stdout" else ""
        finally:
            socket.close()
            self._request("DELETE", f"{self.address}/api/terminals/{name}")
        return int(end[1]), shown

    def run_cells(self, notebook: str, kernel: str, cells: list[str]) -> list[str]:
        """Run cells in a new kernel in the place of a notebook; return what each printed, or its error.

        Args:
            notebook: Path of the notebook below the server's root.
            kernel: Name of the kernel.
            cells: Their sources.
        """
        place = {"path": notebook, "name": notebook, "type": "notebook", "kernel": {"name": kernel}}
        session = self._request("POST", f"{self.address}/api/sessions", json=place).json()
        socket = self._socket(f"api/kernels/{session['kernel']['id']}/channels")
        try:
            return [_run_cell(socket, cell) for cell in cells]
        finally:
            socket.close()
            self._request("DELETE", f"{self.address}/api/sessions/{session['id']}")


def _run_cell(socket: websocket.WebSocket, code: str) -> str:
    header = {
        "msg_id": uuid.uuid4().hex,
        "msg_type": "execute_request",
        "session": "test",
        "username": "test",
    }
    request = {"header": header, "parent_header": {}, "metadata": {}, "channel": "shell"}
    socket.send(json.dumps({**request, "content": {"code": code, "silent": False}}))
    said = ""
    while True:
        message = json.loads(socket.recv())
        if message["parent_header"].get("msg_id") != header["msg_id"]:
            continue
        content = message["content"]
        said += content.get("text", "") if message["msg_type"] == "stream" else ""
        said += f"{content['ename']}: {content['evalue']}" if message["msg_type"] == "error" else ""
        if message["msg_type"] == "status" and content["execution_state"] == "idle":
            return said
