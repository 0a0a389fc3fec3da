"""Runs yt-dlp many times with one import of it.

Started once with the folder or archive that holds the package ('' where Python finds it by itself). Reads one JSON
object a line: {"id", "argv", "socket", "internal", "proxies"}. Each is carried out in a forked child, a process group of its own
whose standard output and error are two connections to the Unix socket, each begun by a line `<id> out` or `<id> err`.
A line {"rate": bytes a second} bounds what all children fetch together, 0 does not; what runs follows at once.
Answers {"ready": version} once the extractors' patterns are compiled, then {"id", "pid"} and {"id", "code"} or
{"id", "signal"} for each. Ends when its input does, and its children with it.
"""

import contextlib
import fcntl
import gc
import ipaddress
import json
import mmap
import os
import select
import signal
import socket
import struct
import sys
import tempfile
import time
import traceback
from urllib.parse import urlsplit


def main(library):
    global answers
    # What a library prints is no answer.
    answers = os.dup(1)
    os.dup2(2, 1)
    own = find_in(library) if library else False
    import yt_dlp
    from yt_dlp.extractor import gen_extractor_classes
    from yt_dlp.version import __version__

    for extractor in gen_extractor_classes():
        # Compiles its pattern: two thirds of a short run are spent on that and on the imports.
        extractor.suitable('https://warm.invalid/')
    if own:
        trust_system()
    warm(yt_dlp)
    rate = Rate()
    hold_back(rate)
    # Children share what they do not touch, and the collector touches everything.
    gc.collect()
    gc.freeze()

    jobs = {}
    waking, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answer({'ready': __version__})

    pending = b''
    while True:
        readable, _, _ = select.select([0, waking], [], [])
        if waking in readable:
            os.read(waking, 4096)
            reap(jobs)
        if 0 in readable:
            chunk = os.read(0, 65536)
            if not chunk:
                break
            *lines, pending = (pending + chunk).split(b'\n')
            for line in lines:
                job = json.loads(line)
                if 'rate' in job:
                    rate.set(job['rate'])
                else:
                    start(jobs, job, yt_dlp, (waking, wake, answers))
    for pid in jobs:
        kill_group(pid)


def find_in(library):
    """Imports from a folder of packages, or an archive that has more of them beside it. Whether they are of our installing."""
    beside = os.path.join(os.path.dirname(library), 'packages')
    extended = os.path.isfile(library) and os.path.isdir(beside)
    sys.path[:0] = [library, beside] if extended else [library]
    return extended or os.path.isdir(library)


def trust_system():
    """curl_cffi brings a list of certificates with it, which is no reason to trust others than before."""
    from yt_dlp.networking import common

    make = common.make_ssl_context
    common.make_ssl_context = lambda **options: make(**{**options, 'use_certifi': False})


def warm(yt_dlp):
    """Does once what every child would do for itself, in time and in memory of its own: half of what one needs."""
    try:
        import ctypes

        import yt_dlp.extractor.generic
        import yt_dlp.extractor.youtube

        keep_certificates()
        with yt_dlp.YoutubeDL({'quiet': True, 'no_warnings': True}) as loaded:
            keep_extractors(yt_dlp, loaded)
        rehearse(yt_dlp)
        keep_options()
    except Exception:
        # Another release may have other insides. Its children work as well, at more cost.
        traceback.print_exc()


def keep_certificates():
    """A context takes 5 MB for the certificates it knows, and each child made its own."""
    from yt_dlp.networking import common

    make = common.make_ssl_context
    kept = {}

    def make_once(**options):
        key = tuple(sorted(options.items()))
        if key not in kept:
            kept[key] = make(**options)
        return kept[key]

    common.make_ssl_context = make_once


def keep_extractors(yt_dlp, loaded):
    """Listing 1,900 classes counts a reference to each, so that every child had copies of all of them."""
    from yt_dlp.extractor.common import UnsupportedURLIE

    known = loaded._ies
    find = yt_dlp.YoutubeDL.add_default_info_extractors

    def find_once(self):
        if self.params.get('allowed_extractors', ['default']) != ['default']:
            find(self)
            return
        self._ies = known
        # The last one, which knows its owner.
        self.add_info_extractor(UnsupportedURLIE())

    yt_dlp.YoutubeDL.add_default_info_extractors = find_once


def rehearse(yt_dlp):
    """A whole download, of one byte that its address holds: patterns, caches and what is known of the system stay."""
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, 'w') as nowhere:
        about = os.path.join(folder, 'info.json')
        video = {'format_id': '0', 'ext': 'mp4', 'protocol': 'http', 'url': 'data:,0'}
        with open(about, 'w') as file:
            named = {'id': '0', 'title': '0', 'extractor': 'generic', 'extractor_key': 'Generic'}
            json.dump({**named, 'webpage_url': 'https://warm.invalid/', 'formats': [video]}, file)
        options = ['--ignore-config', '--no-plugin-dirs', '--cache-dir', folder, '-f', 'bv*+ba/b', '--no-simulate']
        shown = ['--progress', '--progress-template', '%(progress.{status})j', '--print', 'after_move:%(id)s']
        placed = ['-P', f'home:{folder}/out', '-P', f'temp:{folder}/part', '-o', '%(title)s.%(ext)s']
        name = yt_dlp.setproctitle
        yt_dlp.setproctitle = lambda _: None
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere), contextlib.suppress(SystemExit):
            yt_dlp.main([*options, *shown, *placed, '--load-info-json', about])
        yt_dlp.setproctitle = name


def keep_options():
    """Reading a command line changes none of the 300 options it may hold, so that all children can share them."""
    from yt_dlp import options

    parser = options.create_parser()
    options.create_parser = lambda: parser


def start(jobs, job, yt_dlp, inherited):
    try:
        pid = os.fork()
    except OSError as error:
        # Too many processes, or no memory for one more: what runs goes on.
        with contextlib.suppress(OSError), connect(job, 'err') as connection:
            connection.sendall(f'ERROR: The extractor could not be started: {error}\n'.encode())
        answer({'id': job['id'], 'code': 1})
        return
    if pid == 0:
        # Nothing of the parent's may run here: neither its loop nor its clean-up.
        code = 1
        try:
            code = carry_out(job, yt_dlp, inherited)
        finally:
            os._exit(code)
    try:
        # Both sides do it: whoever is told the number may signal the group at once.
        os.setpgid(pid, pid)
    except OSError:
        pass
    jobs[pid] = job['id']
    answer({'id': job['id'], 'pid': pid})


def reap(jobs):
    while jobs:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        known = jobs.pop(pid, None)
        if known is None:
            continue
        if os.WIFSIGNALED(status):
            answer({'id': known, 'signal': signal.Signals(os.WTERMSIG(status)).name})
        else:
            answer({'id': known, 'code': os.WEXITSTATUS(status)})


def carry_out(job, yt_dlp, inherited):
    os.setpgid(0, 0)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for descriptor in inherited:
        os.close(descriptor)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for descriptor, name in ((1, 'out'), (2, 'err')):
        with connect(job, name) as connection:
            os.dup2(connection.fileno(), descriptor)
    if not job['internal']:
        refuse_internal(job['argv'])
        lead_outward(job['proxies'])
    try:
        yt_dlp.main(job['argv'])
        return 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                pass


def connect(job, name):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(job['socket'])
    connection.sendall(f"{job['id']} {name}\n".encode())
    return connection


class Rate:
    """How fast all children together may fetch: memory that they share with the worker."""

    def __init__(self):
        self.memory = mmap.mmap(-1, 24)
        # Locks of one process do not bind another over memory; over a file they do, and a killed child's go with it.
        self.file = tempfile.TemporaryFile()

    def set(self, rate):
        with self:
            # What was booked under the old rate is forgotten, and who waits for it sees the new turn.
            turn = self.read()[2] + 1
            self.memory[:] = struct.pack('ddd', rate, 0, turn)

    def read(self):
        return struct.unpack('ddd', self.memory)

    def __enter__(self):
        fcntl.lockf(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        fcntl.lockf(self.file, fcntl.LOCK_UN)

    def take(self, count):
        """Waits until so many bytes may have been fetched."""
        with self:
            rate, booked, turn = self.read()
            if rate <= 0:
                return
            # A block that was asked for under a higher rate must not silence the connection for minutes.
            due = max(booked, time.monotonic()) + min(count / rate, 2)
            self.memory[:] = struct.pack('ddd', rate, due, turn)
        while (left := due - time.monotonic()) > 0 and self.read()[2] == turn:
            time.sleep(min(left, 0.2))


def hold_back(rate):
    from yt_dlp.downloader.common import FileDownloader

    own = FileDownloader.slow_down
    own_block = FileDownloader.best_block_size

    def slow_down(self, start_time, now, byte_counter):
        counted = getattr(self, '_counted', None)
        before = counted[1] if counted and counted[0] == start_time else 0
        self._counted = (start_time, byte_counter)
        if byte_counter > before:
            rate.take(byte_counter - before)
        return own(self, start_time, now, byte_counter)

    def best_block_size(elapsed_time, count):
        bound = rate.read()[0]
        wanted = own_block(elapsed_time, count)
        return min(wanted, max(1024, int(bound / 4))) if bound > 0 else wanted

    FileDownloader.slow_down = slow_down
    FileDownloader.best_block_size = staticmethod(best_block_size)


def refuse_internal(argv):
    """Redirects and manifests lead where no look at the first address can tell."""
    resolve = socket.getaddrinfo
    proxies = set(proxies_of(argv))

    def guarded(host, port=None, *rest, **named):
        found = resolve(host, port, *rest, **named)
        if (host, port) in proxies:
            return found
        for *_, address in found:
            try:
                ip = ipaddress.ip_address(str(address[0]).split('%')[0])
            except ValueError:
                continue
            ip = getattr(ip, 'ipv4_mapped', None) or ip
            if not ip.is_global or ip.is_multicast:
                raise socket.gaierror(socket.EAI_NONAME, f'Refusing to fetch internal address "{ip}" for host "{host}"')
        return found

    socket.getaddrinfo = guarded


def proxies_of(argv):
    """Host and port of what the owner has named a proxy: it may be of this machine, and decides where it leads."""
    usual = {'https': 443, 'socks4': 1080, 'socks4a': 1080, 'socks5': 1080, 'socks5h': 1080}
    named = [value for name, value in os.environ.items() if name.lower() in ('http_proxy', 'https_proxy', 'all_proxy')]
    for value in [*named, *(arg.split('=', 1)[1] for arg in argv if arg.startswith('--proxy='))]:
        with contextlib.suppress(ValueError):
            url = urlsplit(value if '://' in value else f'http://{value}')
            yield url.hostname, url.port or usual.get(url.scheme, 80)


def lead_outward(proxies):
    """curl and ffmpeg resolve names, follow redirects and read NO_PROXY by themselves: they get no other way."""
    from yt_dlp.downloader.external import FFmpegFD
    from yt_dlp.networking import common

    # A release to come may bring more ways to ask for an address, of which nothing is known here.
    for key in set(common._REQUEST_HANDLERS) - {'Urllib', 'Requests', 'Websockets', 'CurlCFFI'}:
        del common._REQUEST_HANDLERS[key]
    curl = common._REQUEST_HANDLERS.get('CurlCFFI')
    if curl is not None:
        proxies_by_option = curl._get_proxies

        def through(self, request):
            named = proxies_by_option(self, request)
            scheme = urlsplit(request.url).scheme.lower()
            return {'all': named.get(scheme) or named.get('all') or proxies[f'{scheme}_proxy'], 'no': ''}

        curl._get_proxies = through

    call_ffmpeg = FFmpegFD._call_downloader

    def call(self, *rest):
        before = dict(os.environ)
        for name in ('no_proxy', 'NO_PROXY'):
            os.environ.pop(name, None)
        os.environ.update(proxies)
        try:
            return call_ffmpeg(self, *rest)
        finally:
            os.environ.clear()
            os.environ.update(before)

    FFmpegFD._call_downloader = call


def kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def answer(content):
    os.write(answers, (json.dumps(content) + '\n').encode())


main(sys.argv[1] if len(sys.argv) > 1 else '')
