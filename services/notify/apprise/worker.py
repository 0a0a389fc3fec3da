"""Sends notifications by the Apprise library, imported once.

Started with the folder that holds the library ('' where Python finds it by itself). The first line of its input is
{"folders", "refused"}: where files that are sent along may lie, and the schemes that are nobody's business here. It
answers {"ready": version}. Each further line is a job with an "id" and an "op", carried out in a thread of its own:

  send       url title body type format attach[{path name type}]  -> ok log[[level text]]
  describe   urls                                                  -> ok described[{ok service url masked optional} or {log}]
  catalogue                                                        -> ok catalogue

Answers come in the order in which jobs end. Ends at once when its input does.
"""

import ipaddress
import json
import logging
import os
import re
import socket
import sys
import threading
from urllib.parse import unquote, urlsplit

MOST_LINES = 20
LONGEST_LINE = 500


def main(library):
    jobs = os.fdopen(os.dup(0), 'rb')
    answers = os.fdopen(os.dup(1), 'wb')
    # What a plugin prints or reads must not meet our lines.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)

    if library:
        sys.path.insert(0, library)
    import apprise

    order = json.loads(jobs.readline() or b'{}')
    sender = Sender(apprise, order.get('folders', []), order.get('refused', []))
    writing = threading.Lock()

    def answer(content):
        line = json.dumps(content).encode() + b'\n'
        try:
            with writing:
                answers.write(line)
                answers.flush()
        except OSError:
            os._exit(0)

    def carry_out(job):
        try:
            result = sender.carry_out(job)
        except Exception as error:
            # Its words may hold parts of the URL; its kind does not.
            result = {'ok': False, 'log': [['ERROR', f'The library failed: {type(error).__name__}.']]}
        answer({'id': job['id'], **result})

    answer({'ready': apprise.__version__})
    for line in jobs:
        threading.Thread(target=carry_out, args=(json.loads(line),), daemon=True).start()
    # A thread that hangs in a send must not keep the process.
    os._exit(0)


class Sender:
    def __init__(self, apprise, folders, refused):
        from apprise.attachment.file import AttachFile

        self.apprise = apprise
        self.attach_file = AttachFile
        self.refused = set(refused)
        self.running = []
        self.capture = Capture()
        self.asset = apprise.AppriseAsset(
            app_id='Homeport',
            app_desc='Homeport Notifications',
            app_url='',
            async_mode=False,
            secure_logging=True,
            storage_mode='memory',
            image_url_mask=None,
            image_url_logo=None,
        )
        # Names that not every release has: limits and retries are the outbox's, and nothing is read from the environment.
        for name, value in (('_service_timeout', 0), ('_allow_templates', False)):
            if hasattr(self.asset, name):
                setattr(self.asset, name, value)
        logger = logging.getLogger('apprise')
        logger.setLevel(logging.INFO)
        logger.propagate = False
        logger.addHandler(self.capture)
        only_files_in(AttachFile, folders)
        refuse_internal(self.running)

    def carry_out(self, job):
        if job['op'] == 'catalogue':
            return {'ok': True, 'catalogue': self.catalogue()}
        if job['op'] == 'describe':
            return {'ok': True, 'described': [self.logged(self.describe, url, url) for url in job['urls']]}
        return self.logged(self.send, job['url'], job)

    def logged(self, work, url, given):
        self.running.append(url.lower())
        try:
            with self.capture.of_this_thread() as lines:
                result = work(given, lines)
                return {**result, 'log': lines.shown(url)}
        finally:
            self.running.remove(url.lower())

    def describe(self, url, lines):
        plugin = self.open(url)
        if plugin is None:
            return {'ok': False}
        return {
            'ok': True,
            'service': str(plugin.service_name),
            'url': plugin.url(privacy=False),
            'masked': plugin.url(privacy=True),
            'optional': bool(getattr(plugin, 'optional', False)),
        }

    def send(self, job, lines):
        plugin = self.open(job['url'])
        if plugin is None:
            return {'ok': False, 'final': True}
        lines.masked = plugin.url(privacy=True)
        # Both are done before a message comes here.
        plugin.retry = 0
        plugin.interpret_emojis = False
        files = [
            self.attach_file(path=file['path'], name=file['name'], mimetype=file['type'], asset=self.asset)
            for file in job['attach']
        ]
        service = self.apprise.Apprise(asset=self.asset)
        service.add(plugin)
        sent = service.notify(
            body=job['body'],
            title=job['title'],
            notify_type=job['type'],
            body_format=job['format'],
            attach=files or None,
        )
        return {'ok': bool(sent)}

    def open(self, url):
        if scheme_of(url) in self.refused:
            return None
        plugin = self.apprise.Apprise.instantiate(url, asset=self.asset)
        # An address of a service's own, such as https://…, becomes one of its schemes.
        if plugin is None or scheme_of(plugin.url(privacy=True)) in self.refused:
            return None
        return plugin

    def catalogue(self):
        found = self.apprise.Apprise(asset=self.asset).details(show_requirements=True, show_disabled=True)
        schemas = [
            {
                'service_name': str(schema['service_name']),
                'service_url': text_or_none(schema.get('service_url')),
                'setup_url': text_or_none(schema.get('setup_url')),
                'protocols': list(schema['protocols'] or []),
                'secure_protocols': list(schema['secure_protocols'] or []),
                'attachment_support': bool(schema.get('attachment_support')),
                'category': str(schema.get('category', 'native')),
                'enabled': bool(schema.get('enabled', True)),
                'packages': [str(each) for each in schema.get('requirements', {}).get('packages_required', [])],
                'details': plain(schema['details']),
            }
            for schema in found['schemas']
        ]
        return {'version': str(found['version']), 'schemas': schemas}


class Lines(list):
    masked = ''

    def shown(self, url):
        """The kept lines without what the masked URL does not show either."""
        parts = {part for part in re.split(r'[/:@?&=,\s]+', url) if len(part) > 3}
        secrets = {each for part in parts for each in (part, unquote(part)) if each not in self.masked}
        hidden = []
        for level, text in self:
            for secret in sorted(secrets, key=len, reverse=True):
                text = text.replace(secret, '****')
            hidden.append([level, re.sub(r'\s+', ' ', text).strip()[:LONGEST_LINE]])
        return hidden


class Capture(logging.Handler):
    """What the library says, by the thread that it says it in."""

    def __init__(self):
        super().__init__(logging.INFO)
        self.threads = threading.local()

    def emit(self, record):
        lines = getattr(self.threads, 'lines', None)
        if lines is not None and len(lines) < MOST_LINES:
            lines.append([record.levelname, record.getMessage()])

    def of_this_thread(self):
        return CapturedLines(self.threads)


class CapturedLines:
    def __init__(self, threads):
        self.threads = threads

    def __enter__(self):
        self.threads.lines = Lines()
        return self.threads.lines

    def __exit__(self, *_):
        self.threads.lines = None


def only_files_in(attach_file, folders):
    """Key files and the like that a URL names would be read for whoever may post a URL."""
    allowed = [os.path.realpath(folder) + os.sep for folder in folders]
    download = attach_file.download

    def guarded(self, *rest, **named):
        path = os.path.realpath(self.dirty_path)
        if not any(path.startswith(folder) for folder in allowed):
            return False
        return download(self, *rest, **named)

    attach_file.download = guarded


def refuse_internal(running):
    """A redirect leads to this machine or network only where the URL names that host itself."""
    resolve = socket.getaddrinfo
    proxies = {urlsplit(value).hostname for name, value in os.environ.items() if name.lower().endswith('_proxy')}

    def guarded(host, *rest, **named):
        found = resolve(host, *rest, **named)
        name = host.decode('idna') if isinstance(host, bytes) else str(host or '')
        if name and (name in proxies or any(name.lower() in url for url in [*running])):
            return found
        for *_, address in found:
            try:
                ip = ipaddress.ip_address(str(address[0]).split('%')[0])
            except ValueError:
                continue
            ip = getattr(ip, 'ipv4_mapped', None) or ip
            if not ip.is_global or ip.is_multicast:
                raise socket.gaierror(socket.EAI_NONAME, 'Refusing an internal address that the URL does not name')
        return found

    socket.getaddrinfo = guarded


def scheme_of(url):
    return str(url).split(':', 1)[0].strip().lower()


def text_or_none(value):
    return None if value is None else str(value)


def plain(value):
    """The same as JSON can write it."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((plain(each) for each in value), key=str)
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


main(sys.argv[1] if len(sys.argv) > 1 else '')
