import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage, type RequestOptions } from 'node:http';
import { get as getSecurely } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { io } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { registry } from '../../../main/host/services/registry.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { openTestHost } from '../../support/host.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';
import { createProbe } from '../notify/support.ts';
import { fakeEngine, openRig, type Rig } from './rig.ts';

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'homeport-metube-settings-'))));
afterAll(() => rmSync(folder, { recursive: true }));

/** Waits for the first event of that name that a Socket.IO client receives. */
async function waitForEvent(base: string, event: string): Promise<any> {
  const socket = io(base, { reconnection: false, forceNew: true, rejectUnauthorized: false });
  try {
    const received = Promise.withResolvers<string>();
    socket.on(event, received.resolve);
    socket.on('connect_error', received.reject);
    return JSON.parse(await received.promise);
  } finally {
    socket.disconnect();
  }
}

describe('an environment of MeTube', () => {
  let rig: Rig;
  const { descriptor, offers } = createProbe(['notices']);
  beforeAll(async () => {
    const files = join(folder, 'media');
    for (const name of ['shows/old', '@eaDir', 'private', '.hidden', 'a <b> & "c"'])
      mkdirSync(join(files, name), { recursive: true });
    writeFileSync(join(files, 'a <b> & "c"', '100%.txt'), 'text');
    writeFileSync(join(folder, 'robots.txt'), 'User-agent: *\nDisallow: /\n');
    rig = await openRig({
      services: [descriptor, downloads],
      environment: {
        ...{ DOWNLOAD_DIR: files, DOWNLOAD_DIRS_INDEXABLE: 'true', ROBOTS_TXT: join(folder, 'robots.txt') },
        ...{ CUSTOM_DIRS_EXCLUDE_REGEX: '(^|/)[.@].*$|^private', DEFAULT_OPTION_PLAYLIST_ITEM_LIMIT: '2' },
        ...{ PUBLIC_HOST_URL: 'https://media.example.org/files', PUBLIC_HOST_AUDIO_URL: 'sound' },
        ...{ LOGLEVEL: 'WARNING' },
      },
    });
  });
  afterAll(async () => await rig[Symbol.asyncDispose]());

  it('sends clients the file addresses, the playlist limit and the folders', async () => {
    expect(await waitForEvent(rig.client.base, 'configuration')).toMatchObject({
      PUBLIC_HOST_URL: 'https://media.example.org/files/',
      PUBLIC_HOST_AUDIO_URL: 'sound/',
      DEFAULT_OPTION_PLAYLIST_ITEM_LIMIT: '2',
    });
    const { download_dir: folders } = await waitForEvent(rig.client.base, 'custom_dirs');
    expect(folders).toEqual(['', 'a <b> & "c"', 'shows', 'shows/old']);
  });

  it('limits playlists by the settings or the request', async () => {
    await rig.client.post('/pause', {});
    const add = async (fields: object): Promise<number> => {
      const url = rig.site.url(`/feed/5.rss?${encodeURIComponent(JSON.stringify(fields))}`);
      return (await rig.client.post('/add', { url, quality: 'best', format: 'any', ...fields })).uids?.length ?? 0;
    };
    expect(await add({})).toBe(2);
    expect(await add({ playlist_item_limit: 3 })).toBe(3);
    expect(await add({ playlist_item_limit: 0 })).toBe(5);
    const { queue } = await rig.client.history();
    await rig.client.post('/delete', { where: 'queue', ids: queue.map(({ uid }) => uid) });
    await rig.client.post('/resume', {});
  });

  it('links to finished files on another server', async () => {
    await rig.client.ended(await rig.client.add(rig.site.url('/p/og?title=Elsewhere one')));
    const link = 'https://media.example.org/files/Elsewhere%20one.mp4';
    await vi.waitFor(
      () => expect([...offers.notices.values()].map(({ notice }) => notice.link)).toContain(link),
      15_000,
    );
  });

  it('lists finished files without hidden ones', async () => {
    const page = await fetch(`${rig.client.base}/download/`);
    expect(page.headers.get('content-security-policy')).toBe('sandbox');
    const list = await page.text();
    expect(list).toContain('<a href="./shows/">shows/</a>');
    expect(list).toContain('<a href="./a%20%3Cb%3E%20%26%20%22c%22/">a &lt;b&gt; &amp; &quot;c&quot;/</a>');
    expect(list).not.toMatch(/\.hidden|\.homeport/);
    const inner = await fetch(`${rig.client.base}/download/a%20%3Cb%3E%20%26%20%22c%22`);
    expect(inner.url).toMatch(/%22c%22\/$/);
    expect(await inner.text()).toContain('<a href="./100%25.txt">100%.txt</a>');
    expect(await (await fetch(`${inner.url}100%25.txt`)).text()).toBe('text');
    for (const path of ['/download/.hidden/', '/download/..%2f', '/download/nothing/']) {
      expect((await fetch(rig.client.base + path)).status).toBe(404);
    }
    expect((await fetch(`${rig.client.base}/audio_download`)).url).toBe(`${rig.client.base}/audio_download/`);
  });

  it('uses its robots.txt and its log level', async () => {
    expect(await (await fetch(`${rig.client.base}/robots.txt`)).text()).toBe('User-agent: *\nDisallow: /\n');
    // The vault is opened before the settings are read.
    const talk = rig.host.log.filter((line) => / (info|debug) /i.test(line) && !line.includes(' vault '));
    expect(talk).toEqual([]);
  });
});

it('serves no list without the setting and refuses an invalid level', async () => {
  await using rig = await openRig({ environment: { LOGLEVEL: 'CRITICAL', ROBOTS_TXT: join(folder, 'none.txt') } });
  mkdirSync(rig.file(''), { recursive: true });
  expect((await fetch(`${rig.client.base}/download/`)).status).toBe(404);
  expect(await (await fetch(`${rig.client.base}/robots.txt`)).text()).toContain('Disallow: /download/');
  await expect(openRig({ environment: { LOGLEVEL: 'LOUD' } })).rejects.toThrow(/LOGLEVEL/);
});

it('applies the template of channels to channels and that of playlists to playlists', async () => {
  const engine = join(folder, 'engine');
  mkdirSync(engine);
  const entries = [{ _type: 'url', id: 'v', url: 'https://video.example/v', title: 'One', duration: 5 }];
  const channel = {
    ...{ _type: 'playlist', id: 'UC1', title: 'Cooks - Videos' },
    ...{ channel: 'Cooks', channel_id: 'UC1' },
  };
  const list = { ...channel, id: 'PL1', title: 'Soups' };
  // Answers a probe with its address, and a download with its output template.
  const script = `
case "$*" in
  *" -J "*UC1*) echo '${JSON.stringify({ ...channel, entries })}' ;;
  *" -J "*PL1*) echo '${JSON.stringify({ ...list, entries: entries.map((entry) => ({ ...entry, url: `${entry.url}2` })) })}' ;;
  *)
    while [ $# -gt 1 ]; do
      case "$1 $2" in "-o "*) echo "$2" >> '${join(engine, 'templates')}' ;; "-P home:"*) home="\${2#home:}" ;; esac
      shift
    done
    mkdir -p "$home" && echo video > "$home/One.mp4"
    echo 'A {"filepath": "'"$home"'/One.mp4"}' ;;
esac`;
  await using rig = await openRig({
    environment: {
      ...fakeEngine(engine, script),
      ...{ OUTPUT_TEMPLATE_CHANNEL: 'by/%(channel)s/%(channel_index)s %(title)s.%(ext)s', DOWNLOAD_MODE: 'sequential' },
    },
  });
  for (const id of ['UC1', 'PL1']) {
    const body = { url: `https://video.example/${id}`, quality: 'best', format: 'any' };
    const { uids = [], uid } = await rig.client.post('/add', body);
    for (const each of uid === undefined ? uids : [uid]) await rig.client.ended(each);
  }
  expect(readFileSync(join(engine, 'templates'), 'utf8').split('\n')).toEqual([
    'by/%(homeport_channel)s/%(homeport_channel_index)01d %(title)s.%(ext)s',
    '%(homeport_playlist_title)s/%(title).180B.%(ext)s',
    '',
  ]);
});

describe('HTTPS', () => {
  it('is served with the certificate of the settings, also for live clients, without HTTP', async () => {
    const { key, cert } = makeSelfSigned();
    writeFileSync(join(folder, 'key.pem'), key);
    writeFileSync(join(folder, 'cert.pem'), cert);
    const environment = { HTTPS: 'true', CERTFILE: join(folder, 'cert.pem'), KEYFILE: join(folder, 'key.pem') };
    await using host = await openTestHost({ services: [downloads], environment });
    const base = host.url('downloads');
    expect(base).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const [reply] = (await once(getSecurely(`${base}/history`, { ca: cert }), 'response')) as [IncomingMessage];
    expect(JSON.parse(await text(reply))).toEqual({ done: [], queue: [], pending: [] });
    expect(await waitForEvent(base, 'custom_dirs')).toEqual({ download_dir: [''], audio_download_dir: [''] });
    const insecure = await fetch(base.replace('https', 'http'));
    expect([insecure.status, await insecure.text()]).toEqual([400, expect.stringContaining('https')]);
  });

  it.each([
    [{ HTTPS: 'true' }, 'no certificate file is set'],
    [
      { HTTPS: 'true', CERTFILE: '/nowhere.pem', KEYFILE: '/nowhere.pem' },
      'The certificate can’t be read: /nowhere.pem',
    ],
  ])('refuses to start with %j and reports the reason', async (environment, reason) => {
    await using host = await openTestHost({ services: [downloads], environment });
    expect(host.host.failures()['downloads']).toContain(reason);
  });
});

describe('the root of the port', () => {
  let rig: Rig;
  beforeAll(async () => {
    const services = registry.filter(({ id }) => id === 'downloads' || id === 'control');
    rig = await openRig({
      services,
      environment: { URL_PREFIX: '/tube/', HOMEPORT_ALLOWED_HOSTS: 'media.example.org' },
    });
  });
  afterAll(async () => await rig[Symbol.asyncDispose]());
  const sendRequest = async (path: string, headers: RequestOptions['headers']): Promise<IncomingMessage> => {
    const [reply] = (await once(get(`${rig.client.base}${path}`, { headers }), 'response')) as [IncomingMessage];
    return reply.resume();
  };

  it('redirects direct clients to the page of the app', async () => {
    expect((await sendRequest('/', {})).headers.location).toBe('/tube/');
    const page = new URL(rig.host.url('control')).port;
    expect((await sendRequest('/tube/', {})).headers.location).toBe(`http://127.0.0.1:${page}/downloads`);
  });

  it.each([
    [{ host: 'media.example.org' }],
    [{ host: 'media.example.org:8443' }],
    [{ 'x-forwarded-for': '192.0.2.7' }],
    [{ 'x-forwarded-host': 'media.example.org', 'x-forwarded-proto': 'https' }],
  ])('keeps clients behind a proxy at its host: %j', async (headers) => {
    const root = await sendRequest('/', headers);
    expect([root.statusCode, root.headers.location]).toEqual([302, '/tube/']);
    const page = await sendRequest('/tube/', headers);
    expect([page.statusCode, page.headers.location]).toEqual([200, undefined]);
  });
});

it('sends no notification when notifications are disabled, and does not retry', async () => {
  const services = registry.filter(({ id }) => id === 'downloads' || id === 'notify');
  const environment = { HOMEPORT_ENABLED_NOTIFY: 'false', LOG_LEVEL: 'debug' };
  await using rig = await openRig({ services, environment });
  await rig.client.ended(await rig.client.add(rig.site.url('/p/og?title=Quiet')));
  const lines = (part: string): readonly string[] => rig.host.log.filter((line) => line.includes(part));
  await vi.waitFor(() => expect(lines('notification dropped, notifications are disabled')).toHaveLength(1), 15_000);
  expect(lines('a job failed')).toEqual([]);
});
