"""Runs yt-dlp commands in forked children, with a single import of yt-dlp.

The argument is the folder or archive with the package ('' where Python finds it). The standard input has one JSON object
per line: {"id", "argv", "socket", "internal", "proxies"}. Each command runs in a forked child in a separate process
group. Its standard output and error are two connections to the Unix socket, which begin with a line `<id> out` or
`<id> err`. A line {"rate": bytes per second} limits the total speed of all children, including running ones; 0 removes
the limit. The output is {"ready": version} after the patterns of the extractors are compiled, then {"id", "pid"} and
{"id", "code"} or {"id", "signal"} for each command. The process ends with its input, and ends its children.
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
    global messages
    # Output of libraries must not mix with the messages.
    messages = os.dup(1)
    os.dup2(2, 1)
    is_installed = add_to_path(library) if library else False
    import yt_dlp
    from yt_dlp.extractor import gen_extractor_classes
    from yt_dlp.version import __version__

    for extractor in gen_extractor_classes():
        # Compiles the pattern: this and the imports take two thirds of a short run.
        extractor.suitable('https://warm.invalid/')
    if is_installed:
        use_system_certificates()
    preload(yt_dlp)
    rate = Rate()
    limit_speed(rate)
    # Children share unmodified memory, and the garbage collector would modify all of it.
    gc.collect()
    gc.freeze()

    jobs = {}
    wake_reader, wake_writer = os.pipe()
    os.set_blocking(wake_writer, False)
    signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    send({'ready': __version__})

    pending = b''
    while True:
        readable, _, _ = select.select([0, wake_reader], [], [])
        if wake_reader in readable:
            os.read(wake_reader, 4096)
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
                    start(jobs, job, yt_dlp, (wake_reader, wake_writer, messages))
    for pid in jobs:
        kill_group(pid)


def add_to_path(library):
    """Adds a folder of packages, or an archive with a folder of packages, to the path.

    Returns whether Homeport installed the packages.
    """
    packages = os.path.join(os.path.dirname(library), 'packages')
    extended = os.path.isfile(library) and os.path.isdir(packages)
    sys.path[:0] = [library, packages] if extended else [library]
    return extended or os.path.isdir(library)


def use_system_certificates():
    """Uses the certificates of the system instead of those that curl_cffi contains."""
    from yt_dlp.networking import common

    make = common.make_ssl_context
    common.make_ssl_context = lambda **options: make(**{**options, 'use_certifi': False})


def preload(yt_dlp):
    """Initializes once what each child would initialize, which saves half of its time and memory."""
    try:
        import ctypes

        import yt_dlp.extractor.generic
        import yt_dlp.extractor.youtube

        cache_certificates()
        with yt_dlp.YoutubeDL({'quiet': True, 'no_warnings': True}) as loaded:
            cache_extractors(yt_dlp, loaded)
        run_sample(yt_dlp)
        cache_options()
    except Exception:
        # Another release may have different internals. Its children work as well, but more slowly.
        traceback.print_exc()


def cache_certificates():
    """Caches TLS contexts, which take 5 MB for certificates in each child."""
    from yt_dlp.networking import common

    make = common.make_ssl_context
    contexts = {}

    def make_cached(**options):
        key = tuple(sorted(options.items()))
        if key not in contexts:
            contexts[key] = make(**options)
        return contexts[key]

    common.make_ssl_context = make_cached


def cache_extractors(yt_dlp, loaded):
    """Caches the list of extractors: listing 1,900 classes modifies their reference counts and copies their memory."""
    from yt_dlp.extractor.common import UnsupportedURLIE

    extractors = loaded._ies
    find = yt_dlp.YoutubeDL.add_default_info_extractors

    def find_cached(self):
        if self.params.get('allowed_extractors', ['default']) != ['default']:
            find(self)
            return
        self._ies = extractors
        # The last extractor refers to its downloader.
        self.add_info_extractor(UnsupportedURLIE())

    yt_dlp.YoutubeDL.add_default_info_extractors = find_cached


def run_sample(yt_dlp):
    """Runs a complete download of one byte from a data URL, which fills patterns and caches."""
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, 'w') as null_device:
        info_file = os.path.join(folder, 'info.json')
        video = {'format_id': '0', 'ext': 'mp4', 'protocol': 'http', 'url': 'data:,0'}
        with open(info_file, 'w') as file:
            named = {'id': '0', 'title': '0', 'extractor': 'generic', 'extractor_key': 'Generic'}
            json.dump({**named, 'webpage_url': 'https://warm.invalid/', 'formats': [video]}, file)
        options = ['--ignore-config', '--no-plugin-dirs', '--cache-dir', folder, '-f', 'bv*+ba/b', '--no-simulate']
        shown = ['--progress', '--progress-template', '%(progress.{status})j', '--print', 'after_move:%(id)s']
        placed = ['-P', f'home:{folder}/out', '-P', f'temp:{folder}/part', '-o', '%(title)s.%(ext)s']
        name = yt_dlp.setproctitle
        yt_dlp.setproctitle = lambda _: None
        with contextlib.redirect_stdout(null_device), contextlib.redirect_stderr(null_device), contextlib.suppress(SystemExit):
            yt_dlp.main([*options, *shown, *placed, '--load-info-json', info_file])
        yt_dlp.setproctitle = name


def cache_options():
    """Caches the option parser: parsing a command line does not modify its 300 options."""
    from yt_dlp import options

    parser = options.create_parser()
    options.create_parser = lambda: parser


def start(jobs, job, yt_dlp, inherited):
    try:
        pid = os.fork()
    except OSError as error:
        # Too many processes, or not enough memory: running commands continue.
        with contextlib.suppress(OSError), connect(job, 'err') as connection:
            connection.sendall(f'ERROR: The extractor could not be started: {error}\n'.encode())
        send({'id': job['id'], 'code': 1})
        return
    if pid == 0:
        # Neither the loop nor the cleanup of the parent may run in the child.
        code = 1
        try:
            code = run_command(job, yt_dlp, inherited)
        finally:
            os._exit(code)
    try:
        # Parent and child both set the group, since the receiver of the pid may signal it immediately.
        os.setpgid(pid, pid)
    except OSError:
        pass
    jobs[pid] = job['id']
    send({'id': job['id'], 'pid': pid})


def reap(jobs):
    while jobs:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        job_id = jobs.pop(pid, None)
        if job_id is None:
            continue
        if os.WIFSIGNALED(status):
            send({'id': job_id, 'signal': signal.Signals(os.WTERMSIG(status)).name})
        else:
            send({'id': job_id, 'code': os.WEXITSTATUS(status)})


def run_command(job, yt_dlp, inherited):
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
        refuse_internal_addresses(job['argv'])
        force_proxies(job['proxies'])
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
    """Limit of the total speed of all children, in memory shared with the worker."""

    def __init__(self):
        self.memory = mmap.mmap(-1, 24)
        # Locks on a file apply across processes, and the lock of a killed child is released.
        self.file = tempfile.TemporaryFile()

    def set(self, rate):
        with self:
            # Reservations under the old rate are dropped, and waiting children notice the new generation.
            generation = self.read()[2] + 1
            self.memory[:] = struct.pack('ddd', rate, 0, generation)

    def read(self):
        return struct.unpack('ddd', self.memory)

    def __enter__(self):
        fcntl.lockf(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        fcntl.lockf(self.file, fcntl.LOCK_UN)

    def take(self, count):
        """Waits until a number of bytes is within the limit."""
        with self:
            rate, reserved_until, generation = self.read()
            if rate <= 0:
                return
            # A block requested under a higher rate must not pause the connection for minutes.
            due = max(reserved_until, time.monotonic()) + min(count / rate, 2)
            self.memory[:] = struct.pack('ddd', rate, due, generation)
        while (remaining := due - time.monotonic()) > 0 and self.read()[2] == generation:
            time.sleep(min(remaining, 0.2))


def limit_speed(rate):
    from yt_dlp.downloader.common import FileDownloader

    original_slow_down = FileDownloader.slow_down
    original_block_size = FileDownloader.best_block_size

    def slow_down(self, start_time, now, byte_counter):
        counted = getattr(self, '_counted', None)
        before = counted[1] if counted and counted[0] == start_time else 0
        self._counted = (start_time, byte_counter)
        if byte_counter > before:
            rate.take(byte_counter - before)
        return original_slow_down(self, start_time, now, byte_counter)

    def best_block_size(elapsed_time, count):
        limit = rate.read()[0]
        block_size = original_block_size(elapsed_time, count)
        return min(block_size, max(1024, int(limit / 4))) if limit > 0 else block_size

    FileDownloader.slow_down = slow_down
    FileDownloader.best_block_size = staticmethod(best_block_size)


def refuse_internal_addresses(argv):
    """Refuses internal addresses, which redirects and manifests may contain."""
    resolve = socket.getaddrinfo
    proxies = set(find_proxies(argv))

    def resolve_public(host, port=None, *rest, **named):
        addresses = resolve(host, port, *rest, **named)
        if (host, port) in proxies:
            return addresses
        for *_, address in addresses:
            try:
                ip = ipaddress.ip_address(str(address[0]).split('%')[0])
            except ValueError:
                continue
            ip = getattr(ip, 'ipv4_mapped', None) or ip
            if not ip.is_global or ip.is_multicast:
                raise socket.gaierror(socket.EAI_NONAME, f'Refusing to fetch internal address "{ip}" for host "{host}"')
        return addresses

    socket.getaddrinfo = resolve_public


def find_proxies(argv):
    """Yields host and port of the configured proxies, which may be on this computer."""
    usual = {'https': 443, 'socks4': 1080, 'socks4a': 1080, 'socks5': 1080, 'socks5h': 1080}
    named = [value for name, value in os.environ.items() if name.lower() in ('http_proxy', 'https_proxy', 'all_proxy')]
    for value in [*named, *(arg.split('=', 1)[1] for arg in argv if arg.startswith('--proxy='))]:
        with contextlib.suppress(ValueError):
            url = urlsplit(value if '://' in value else f'http://{value}')
            yield url.hostname, url.port or usual.get(url.scheme, 80)


def force_proxies(proxies):
    """Forces curl and ffmpeg to use the proxies: they resolve names, follow redirects and read NO_PROXY themselves."""
    from yt_dlp.downloader.external import FFmpegFD
    from yt_dlp.networking import common

    # Request handlers that a later release may add are not supported.
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
    except (ProcessLookupError, PermissionError):
        # macOS reports EPERM for a group in which only zombies remain.
        pass


def send(content):
    os.write(messages, (json.dumps(content) + '\n').encode())


main(sys.argv[1] if len(sys.argv) > 1 else '')
