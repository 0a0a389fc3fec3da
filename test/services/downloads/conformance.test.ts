import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openRig, type Rig } from './rig.ts';

/** Recorded request and the response of MeTube. */
interface Exchange {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: any;
  };
}

/** Responses that differ from those of MeTube, with the reason. */
const differences: Readonly<
  Record<string, { readonly why: string; readonly status?: number; readonly body?: unknown }>
> = {
  version: { why: 'our own version is not the peer’s', body: { 'yt-dlp': '2026.10.26' } },
  'get-add-method-not-allowed': {
    why: 'a path that is there says so, and names the method that it takes',
    status: 405,
    body: { status: 'error' },
  },
  'unknown-path': { why: 'the reason is in the body, too', body: { status: 'error', msg: 'Not Found' } },
  'delete-options-preflight': {
    why: 'the peer forgets this preflight, so that no page can cancel what it added',
    status: 200,
    body: { status: 'ok' },
  },
  'delete-bad-where': {
    why: 'the message says what is wrong',
    body: { status: 'error', msg: `'where' must be 'queue' or 'done'` },
  },
  'root-html': { why: 'our own page, at another address', body: null },
  'add-audio-ogg': { why: 'OGG is made, too', status: 200, body: { status: 'ok' } },
  'add-format-webm': { why: 'WebM is made, too', status: 200, body: { status: 'ok' } },
  'add-format-mkv-legacy': { why: 'MKV is made, too', status: 200, body: { status: 'ok' } },
  'add-quality-1080p-with-suffix': { why: '1080p is 1080', status: 200, body: { status: 'ok' } },
  'add-folder-absolute': {
    why: 'the peer says ok and drops the download',
    body: { status: 'error', msg: 'Folder "/etc" is not inside the download folder.' },
  },
  'add-folder-traversal': {
    why: 'the peer says ok and drops the download',
    body: { status: 'error', msg: 'Folder "../../etc" is not inside the download folder.' },
  },
  'history-cors-get': { why: 'it depends on nothing else' },
};

const folder = new URL('golden/', import.meta.url);
const exchanges = new Map(
  readdirSync(folder).map((file) => {
    const exchange = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Exchange;
    return [exchange.name, exchange] as const;
  }),
);

/** Exchanges that depend on earlier ones. Each list begins with an empty service. */
const sessions: Readonly<Record<string, readonly string[]>> = {
  origins: ['history-cors-get'],
  pending: ['add-autostart-false', 'add-duplicate-pending', 'start-pending'],
  cookies: [
    ...['cookie-status-none', 'delete-cookies-none', 'upload-cookies-wrong-field', 'upload-cookies-ok'],
    ...['cookie-status-set', 'delete-cookies-ok', 'cookie-status-none'],
  ],
  subscriptions: [
    ...['subscriptions-empty', 'subscribe-video-url', 'subscribe-feed', 'subscriptions-list', 'subscriptions-update'],
    ...['subscriptions-check', 'subscriptions-delete', 'subscriptions-empty'],
  ],
  failures: [
    ...['history-empty', 'add-json-as-text-plain', 'add-scheme-file', 'add-not-a-url', 'add-404', 'add-no-video-page'],
    ...['history-after-failures', 'delete-done-many', 'history-empty'],
  ],
};
/** Exchanges that are replayed by separate tests below. */
const byHand = new Set([
  ...['add-slow', 'history-downloading', 'history-after-cancel', 'delete-queue-cancel', 'history-after-success'],
  ...['history-with-queue-and-pending', 'history-after-playlist', 'add-playlist-limit', 'add-playlist-ok'],
  ...['add-legacy-extension-body', 'download-file', 'retry-failed', 'strict-add-loopback-refused'],
  ...['strict-add-preflight-no-cors', 'strict-history-after-refusal'],
]);
const inSessions = new Set([...Object.values(sessions).flat(), ...byHand]);

function recorded(name: string): Exchange {
  const exchange = exchanges.get(name);
  if (exchange === undefined) throw new Error(`${name} is not recorded`);
  return exchange;
}

/** Replaces hosts, IDs and times of the recording by those of the test; `as` receives the replacements. */
class Replay {
  readonly rig: Rig;
  readonly #stands = new Map<string, string>();

  constructor(rig: Rig) {
    this.rig = rig;
    this.#stands.set('http://media.test', rig.site.address);
  }

  replaceAddresses(text: string): string {
    let translated = text;
    for (const [recordedText, actualText] of this.#stands) translated = translated.replaceAll(recordedText, actualText);
    return translated;
  }

  async send(name: string): Promise<Response> {
    const { request } = recorded(name);
    const body = typeof request.body === 'string' ? request.body : JSON.stringify(request.body);
    return await fetch(this.rig.client.base + request.path, {
      method: request.method,
      headers: request.headers,
      redirect: 'manual',
      ...(request.method === 'POST' ? { body: this.replaceAddresses(body) } : {}),
    });
  }

  /** Sends a recorded request and compares the answer with the recorded one. */
  async run(name: string): Promise<void> {
    const { response } = recorded(name);
    const difference = differences[name];
    const reply = await this.send(name);
    const text = await reply.text();
    if (difference?.body === null) return;
    expect(reply.status).toBe(difference?.status ?? response.status);
    for (const header of ['access-control-allow-origin', 'access-control-allow-headers', 'vary']) {
      if (header in response.headers) expect(reply.headers.get(header)).toBe(response.headers[header]);
    }
    const expected = difference?.body ?? response.body;
    if (response.status === 400 && typeof expected === 'string') {
      // The message is sent as JSON, in each of the fields that clients read.
      const message = expected.replace('400: ', '');
      expect(JSON.parse(text)).toEqual({ status: 'error', msg: message, error: message, message });
      expect(reply.statusText).toBe(message);
    } else if (typeof expected === 'object') {
      this.#compare(JSON.parse(text), expected);
    } else if (response.status === 200) {
      expect(text).toBe(expected);
    }
  }

  #compare(actual: any, expected: any): void {
    // The subscription has a different ID.
    const id = actual.subscription?.id as string | undefined;
    if (id !== undefined) this.#stands.set(String(expected.subscription?.id), id);
    const withoutSiteFields = JSON.parse(this.replaceAddresses(JSON.stringify(expected)), (key, value: unknown) =>
      (key === 'last_checked' || key === 'timestamp') && typeof value === 'number' ? expect.any(Number) : value,
    ) as object;
    if (Array.isArray(withoutSiteFields))
      expect(actual).toEqual(withoutSiteFields.map((entry) => expect.objectContaining(entry as object)));
    else expect(actual).toMatchObject(withoutSiteFields);
  }
}

describe('recorded responses of MeTube', () => {
  let replay: Replay;
  beforeAll(async () => (replay = new Replay(await openRig({ environment: { CORS_ALLOWED_ORIGINS: '*' } }))));
  afterAll(async () => await replay.rig[Symbol.asyncDispose]());

  for (const name of exchanges.keys()) {
    if (!inSessions.has(name)) it(`replays ${name}`, async () => await replay.run(name));
  }

  it('answers root-html with a page or a redirect to it', async () => {
    expect([200, 302]).toContain((await replay.send('root-html')).status);
  });

  it('answers retry-failed with the message of the second attempt', async () => {
    const url = `${replay.rig.site.address}/s/500`;
    await replay.rig.client.post('/add', { url, quality: 'best' });
    await replay.run('retry-failed');
  });
});

it.each(Object.entries(sessions))('replays the session about %s like MeTube', async (_name, names) => {
  // MeTube accepts any format when a request names none; the specification's default is mp4.
  await using rig = await openRig({ environment: { CORS_ALLOWED_ORIGINS: '*', FORMAT: 'any' } });
  const replay = new Replay(rig);
  for (const name of names)
    await replay.run(name).catch((error: unknown) => {
      throw new Error(name, { cause: error });
    });
});

describe('a service without web pages and internal addresses', () => {
  it('refuses requests like MeTube', async () => {
    await using rig = await openRig({
      environment: { CORS_ALLOWED_ORIGINS: '', ALLOW_PRIVATE_ADDRESSES: 'false' },
    });
    const replay = new Replay(rig);
    const preflight = await replay.send('strict-add-preflight-no-cors');
    expect(preflight.status).toBe(200);
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
    await replay.run('strict-add-loopback-refused');
    await replay.run('strict-history-after-refusal');
  });
});

/** Fields that differ because the recorded files are those of another site. */
const ofTheSite = ['timestamp', 'size', 'id', 'url', 'filename', 'speed', 'eta', 'percent', 'chapter_template'];

/** Returns a record of MeTube without fields that depend on the site. */
function essence(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !ofTheSite.includes(key)));
}

describe('the history', () => {
  let replay: Replay;
  beforeAll(async () => (replay = new Replay(await openRig())));
  afterAll(async () => await replay.rig[Symbol.asyncDispose]());

  const finished = async (count: number): Promise<void> => {
    await vi.waitFor(
      async () => {
        const { done, queue } = await replay.rig.client.history();
        expect([done.length, queue.length]).toEqual([count, 0]);
      },
      { timeout: 60_000, interval: 100 },
    );
  };

  it('has the same records, files and names after-success', async () => {
    const expected: readonly Record<string, any>[] = recorded('history-after-success').response.body.done;
    await replay.run('add-legacy-extension-body');
    await finished(1);
    for (const [index, { url, download_type, codec, format, quality }] of expected.entries()) {
      if (index === 0) continue;
      await replay.rig.client.add(replay.replaceAddresses(String(url)), { download_type, codec, format, quality });
      await finished(index + 1);
    }
    const { done } = await replay.rig.client.history();
    for (const [index, record] of expected.entries()) {
      expect(done[index]).toMatchObject(essence(record));
      const { id, url, filename } = record;
      // The fixture site has another port, and a number in a title belongs to the same title.
      expect(done[index]).toMatchObject({ id, url: replay.replaceAddresses(String(url)), filename, percent: 100 });
      expect(done[index]?.size).toBeGreaterThan(0);
      expect(Object.keys(done[index] ?? {})).toEqual([...Object.keys(record), 'uid']);
    }
  });

  it('lists pending downloads separately (with-queue-and-pending)', async () => {
    await replay.run('add-autostart-false');
    const [expected] = recorded('history-with-queue-and-pending').response.body.pending as Record<string, unknown>[];
    const { pending } = await replay.rig.client.history();
    expect(pending[0]).toMatchObject(essence(expected ?? {}));
    await replay.rig.client.post('/delete', { where: 'queue', ids: pending.map(({ uid }) => uid) });
  });

  it('shows a running download and cancels it (downloading, cancel)', async () => {
    await replay.run('add-slow');
    const [expected] = recorded('history-downloading').response.body.queue as Record<string, any>[];
    const url = replay.replaceAddresses(String(expected?.['url']));
    const record = (await replay.rig.client.history()).queue.find((entry) => entry.url === url);
    // The final name may contain a number, so it is known only when the file exists.
    const { filename: _later, ...running } = essence(expected ?? {});
    const runningDownload = await replay.rig.client.until(record?.uid ?? '', ({ speed }) => speed !== null);
    expect(runningDownload).toMatchObject(running);
    expect(runningDownload).toMatchObject({ id: 'big', speed: expect.any(Number), percent: expect.any(Number) });
    await replay.run('delete-queue-cancel');
    const after = await replay.rig.client.history();
    expect(after.queue).toEqual([]);
    expect(after.done.map((entry) => entry.url)).not.toContain(url);
  });

  it('lists each entry with its title, folder and plain address (after-playlist)', async () => {
    const before = (await replay.rig.client.history()).done.length;
    await replay.run('add-playlist-limit');
    await replay.run('add-playlist-ok');
    // MeTube identifies downloads by address: the entries of the second list replaced those of the first.
    await finished(before + 5);
    const entries = (await replay.rig.client.history()).done.slice(before);
    const names = [
      'Lim/Episode 001',
      'Lim/Episode 002',
      'My Feed/Episode 001',
      'My Feed/Episode 002',
      'My Feed/Episode 003',
    ];
    expect(entries.map(({ filename }) => filename).toSorted()).toEqual(names.map((name) => `${name}.mp4`));
    const expected = (recorded('history-after-playlist').response.body.done as Record<string, any>[]).slice(-3);
    for (const record of expected) {
      const actualEntry = entries.find(
        (entry) =>
          entry.title === record['title'] && entry.filename?.startsWith(String(record['filename']).split('/')[0] ?? ''),
      );
      expect(actualEntry).toMatchObject(essence(record));
      expect(actualEntry?.url).not.toContain('smuggle');
    }
  });

  it('serves a range of a file (download-file)', async () => {
    const reply = await replay.send('download-file');
    const { response } = recorded('download-file');
    expect(reply.status).toBe(206);
    expect(reply.headers.get('content-type')).toBe(response.headers['content-type']);
    expect(reply.headers.get('content-range')).toMatch(/^bytes 0-3\/\d+$/);
    expect((await reply.arrayBuffer()).byteLength).toBe(4);
  });
});

it('cancels probes immediately (cancel-add)', async () => {
  await using rig = await openRig();
  const adding = rig.client.post('/add', { url: `${rig.site.address}/mute`, quality: 'best' });
  await vi.waitFor(async () => expect((await rig.client.history()).queue).toHaveLength(1));
  await new Replay(rig).run('cancel-add');
  expect(await adding).toMatchObject({ status: 'ok', msg: 'Cancelled' });
  expect((await rig.client.history()).queue).toEqual([]);
});
