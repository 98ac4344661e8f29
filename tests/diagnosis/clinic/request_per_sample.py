"""Asks a server for each sample, one after the other, in a worker; the server answers after 5 ms."""
# expect: request_per_sample
# illness: 32
# start: fork
import http.client, multiprocessing, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import torch
from torch.utils.data import DataLoader, Dataset

SIZE = 2048


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        time.sleep(0.005)  # round trip of an object store
        self.send_response(206)
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        self.wfile.write(bytes(i % 251 for i in range(first, last + 1)))

    def log_message(self, *args):
        pass


def serve(port):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    port.value = server.server_port
    server.serve_forever()


class Remote(Dataset):
    def __init__(self, port, n=400):
        self.port, self.n, self.connections = port, n, {}

    def __len__(self):
        return self.n

    def read(self, offset, length):
        connection = self.connections.setdefault(os.getpid(), http.client.HTTPConnection("127.0.0.1", self.port))
        connection.request("GET", "/pack", headers={"Range": f"bytes={offset}-{offset + length - 1}"})
        return connection.getresponse().read()

    def __getitem__(self, i):
        return torch.frombuffer(bytearray(self.read(i * SIZE, SIZE)), dtype=torch.uint8), i % 2


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    fork = multiprocessing.get_context("fork")
    port = fork.Value("i", 0)
    server = fork.Process(target=serve, args=(port,), daemon=True)
    server.start()
    while not port.value:
        time.sleep(0.01)
    loader = DataLoader(Remote(port.value), batch_size=16, shuffle=True, num_workers=1, multiprocessing_context="fork", persistent_workers=True)
    model = torch.nn.Linear(SIZE, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(2):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x.float() / 255), y)
            opt.zero_grad(); loss.backward(); opt.step()
        print(epoch, loss.item())
    server.terminate()
