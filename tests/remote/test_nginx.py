"""The readers and obstore read from a server that others have written."""

import shutil
import socket
import subprocess
import time
import zipfile

import pytest

from course_utils.remote import CachedReader, ObjectServer, RangeReader, RemoteZip
from tests.remote.served import CONTENT, EXPECTED, NAME, RANGES
from tests.remote.store import Store

NGINX = shutil.which(
    "nginx", path="/usr/sbin:/usr/bin:/sbin:/usr/local/sbin:/usr/local/bin:/opt/homebrew/bin"
)
needs_nginx = pytest.mark.skipif(not NGINX, reason="no nginx here: apt-get install nginx-light")
# One process, which keeps the rights of the one that starts it; all that it writes lies in a folder.
CONFIGURATION = """
daemon off;
master_process off;
pid {home}/pid;
error_log {home}/error.log;
events {{ worker_connections 128; }}
http {{
    access_log {home}/access.log;
    client_body_temp_path {home}/body;
    proxy_temp_path {home}/proxy;
    fastcgi_temp_path {home}/fastcgi;
    uwsgi_temp_path {home}/uwsgi;
    scgi_temp_path {home}/scgi;
    keepalive_requests 20;
    limit_conn_zone $server_port zone=all:1m;
    server {{
        listen 127.0.0.1:{port};
        root {folder};
        location /few/ {{ alias {folder}/; limit_conn all 2; limit_rate 6k; }}
    }}
}}
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return sock.getsockname()[1]


@pytest.fixture
def nginx(folder, tmp_path):
    home, port = tmp_path / "nginx", free_port()
    home.mkdir()
    (home / "conf").write_text(CONFIGURATION.format(home=home, port=port, folder=folder))
    command = [NGINX, "-p", str(home), "-c", str(home / "conf"), "-e", str(home / "error.log")]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            _await_port(process, port, home)
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()


def _await_port(process, port, home):
    for _ in range(200):
        with socket.socket() as sock:
            if sock.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None, (home / "error.log").read_text()
        time.sleep(0.02)
    pytest.fail("nginx does not answer")


def address(base):
    return base + NAME.replace(" ", "%20")


@needs_nginx
def test_reader_reads_from_nginx(nginx):
    reader = RangeReader(address(nginx), threads=4, pause_s=0.001)
    assert reader.read_many(RANGES) == reader.read_many(RANGES, gap=1000) == EXPECTED
    assert (reader.size, bool(reader.identity.tag)) == (len(CONTENT), True)
    with pytest.raises(ValueError, match="which has 100,000 bytes"):
        reader.read_at(99_999, 2)
    with pytest.raises(ValueError, match="which has 100,000 bytes"):
        reader.read_at(200_000, 2)
    with pytest.raises(FileNotFoundError, match="status 404"):
        RangeReader(f"{nginx}none").read_at(0, 1)
    reader.close()


@needs_nginx
def test_cache_and_zip_read_from_nginx(nginx, folder, tmp_path):
    with zipfile.ZipFile(folder / "pack.zip", "w") as archive:
        for k in range(20):
            archive.writestr(f"{k:03d}", bytes([k]) * 5000)
    reader = CachedReader(RangeReader(f"{nginx}pack.zip", threads=3), tmp_path / "scratch", 4096)
    remote = RemoteZip(reader)
    assert [bytes(data) for data in remote.read_many(range(20))] == [bytes([k]) * 5000 for k in range(20)]


@needs_nginx
def test_nginx_that_is_busy_is_asked_again(nginx, tmp_path):
    reader = RangeReader(f"{nginx}few/{NAME.replace(' ', '%20')}", threads=4, retries=60, pause_s=0.01)
    pieces = [(offset, 10_000) for offset in range(0, 40_000, 10_000)]  # of which 6,000 bytes come a second
    assert b"".join(reader.read_many(pieces)) == CONTENT[:40_000]
    reader.close()
    statuses = [
        line.split('" ')[1].split()[0] for line in (tmp_path / "nginx/access.log").read_text().splitlines()
    ]
    assert set(statuses) == {"206", "503"}


@needs_nginx
def test_store_asks_nginx(nginx):
    store = Store(address(nginx))
    assert store.get(10, 20) == (206, CONTENT[10:20])


def expect_obstore_reads(base):
    obstore = pytest.importorskip("obstore")
    store = obstore.store.HTTPStore.from_url(base, client_options={"allow_http": True})
    assert bytes(obstore.get_range(store, NAME, start=17, length=100)) == CONTENT[17:117]
    starts, lengths = zip(*RANGES, strict=True)
    found = obstore.get_ranges(store, NAME, starts=starts, lengths=lengths, coalesce=1000)
    assert [bytes(one) for one in found] == EXPECTED
    assert obstore.head(store, NAME)["size"] == len(CONTENT)
    with pytest.raises(FileNotFoundError):
        obstore.get_range(store, "none", start=0, length=1)


@needs_nginx
def test_obstore_reads_from_nginx(nginx):
    expect_obstore_reads(nginx)


def test_obstore_reads_from_the_server_of_the_course(folder):
    with ObjectServer(folder, delay_ms=1) as server:
        expect_obstore_reads(server.url())
        assert 2 < server.record().count < 40
