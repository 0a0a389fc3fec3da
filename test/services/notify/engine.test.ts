import * as problems from '#messages/notify-problems';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { NotifyKey } from '../../../services/contracts/notify/api.ts';
import { control } from '../../../services/control/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { readArguments, lacksLibrary, getLibraryFolder, placeEngine, sendAlone, workers } from './engine-rig.ts';
import { createProbe, openReceiver, withReadings, type Readings, type Receiver } from './support.ts';

/** Services that are not native and accept a local address. */
const services = (port: number): readonly string[] => [
  `pjet://127.0.0.1:${port}/abcdefgh`,
  `pushdeer://127.0.0.1:${port}/pushkey12`,
  `notifico://127.0.0.1:${port}/144/uJmKaBW9WFk42miB146ci3Kj`,
  `parsep://appid:masterkey@127.0.0.1:${port}`,
  `misskey://tokentoken@127.0.0.1:${port}`,
  `evolution://apikeyapikey@127.0.0.1:${port}/inst/15551234567`,
  `flowtriq://apikeyapikey@127.0.0.1:${port}/path`,
];

let folder: string;
let receiver: Receiver;
let host: TestHost;
let readings: Readings;

async function openKeyedHost(release: 'apprise-1' | 'apprise-2'): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'homeport-engine-'));
  receiver = await openReceiver();
  const launcher = placeEngine(
    join(folder, 'engine'),
    getLibraryFolder(release),
    undefined,
    release === 'apprise-1' ? '1.13.1' : '2.2.0',
  );
  const measured = withReadings(notify);
  readings = measured.readings;
  host = await openTestHost({
    services: [createProbe(['inbox', 'push']).descriptor, measured.descriptor, control],
    environment: { APPRISE_PATH: launcher },
  });
}

async function closeHouse(): Promise<void> {
  await host[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}

async function post(path: string, body: unknown): Promise<{ status: number; text: string }> {
  const reply = await fetch(`${host.url('notify')}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: reply.status, text: await reply.text() };
}

async function api<T>(method: string, path: string, body?: unknown): Promise<{ status: number; data: T }> {
  const reply = await fetch(`${host.url('control')}/api/notify${path}`, {
    method,
    headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: reply.status, data: (await reply.json()) as T };
}

describe.skipIf(lacksLibrary).each(['apprise-1', 'apprise-2'] as const)(
  'services through the library, %s',
  (release) => {
    beforeAll(() => openKeyedHost(release));
    afterAll(closeHouse);
    beforeEach(() => void (receiver.received.length = 0));

    it.each(services(0).map((url) => url.split(':')[0] ?? ''))(
      'delivers to %s through the library',
      async (scheme) => {
        const url = services(receiver.port).find((entry) => entry.startsWith(`${scheme}:`)) ?? '';
        const message = { title: 'Bäckup', body: '# Done\n\n*all* <b>of</b> it 🎉', type: 'warning' };
        await sendAlone(getLibraryFolder(release), url, {
          ...message,
          notify_type: 'warning',
          type: undefined,
          body_format: 'markdown',
        });
        const [singleDelivery, ...none] = receiver.received.splice(0);
        expect(none).toEqual([]);
        await post('/notify', { ...message, format: 'markdown', urls: url });
        await vi.waitFor(() => expect(receiver.received).toHaveLength(1), 20_000);
        expect(receiver.received[0]).toEqual(singleDelivery);
      },
      60_000,
    );

    it('accepts a configuration with such a line, and returns its service, normalized and masked URL', async () => {
      const config = `a=misskey://tokentoken@127.0.0.1:${receiver.port}\nb=json://127.0.0.1:${receiver.port}/x\nmisskey://\n`;
      const added = await post('/add/mixed', { config, format: 'text' });
      expect(added.status).toBe(200);
      expect(added.text).toContain(`Line 3 does nothing: ${problems.engineRefused().slice(0, -1)}`);
      const listed = async (query: string): Promise<unknown> =>
        (await fetch(`${host.url('notify')}/json/urls/mixed${query}`)).json();
      const destinationSuffix = `@127.0.0.1:${receiver.port}/?visibility=public`;
      expect(await listed('')).toMatchObject({
        urls: [
          { service_name: 'Misskey', url: expect.stringContaining(`misskey://tokentoken${destinationSuffix}`) },
          {},
        ],
      });
      expect(await listed('?privacy=1')).toMatchObject({
        urls: [{ url: expect.stringContaining(`misskey://t...n${destinationSuffix}`) }, {}],
      });
      expect((await post('/notify/mixed', { body: 'x', tag: 'a' })).status).toBe(200);
      await vi.waitFor(() => expect(receiver.received.map(({ path }) => path)).toEqual(['/api/notes/create']));
      // The text is unchanged.
      expect(await (await fetch(`${host.url('notify')}/cfg/mixed`, { method: 'POST' })).text()).toBe(config);
    });

    it('keeps its secrets out of its arguments, its environment and the log, and counts under one label', async () => {
      const [pid = 0] = await workers();
      const args = await readArguments(pid);
      for (const secret of ['tokentoken', 'masterkey', 'uJmKaBW9WFk42miB146ci3Kj', 'correct horse']) {
        expect(args).not.toContain(secret);
        expect(host.log.join('\n')).not.toContain(secret);
      }
      const names = [...readings.counters.keys()].filter((name) => name.includes('notifications_sent'));
      expect(names.filter((name) => /isskey|pjet/i.test(name))).toEqual([]);
      const sent = readings.counters.get('aggregator_notifications_sent_total{scheme="engine",status="success"}');
      expect(sent).toBeGreaterThan(services(0).length);
    });

    it('sends files', async () => {
      const url = `smseagle://tokentoken@127.0.0.1:${receiver.port}/15551234567`;
      const file = join(folder, 'cat.png');
      writeFileSync(file, 'a cat');
      await sendAlone(getLibraryFolder(release), url, { body: 'look', attach: [file] });
      const singleDelivery = receiver.received.splice(0);
      const form = new FormData();
      form.set('body', 'look');
      form.set('urls', url);
      form.set('attachment', new File(['a cat'], 'cat.png', { type: 'image/png' }));
      await fetch(`${host.url('notify')}/notify`, { method: 'POST', body: form });
      await vi.waitFor(() => expect(receiver.received).toHaveLength(1));
      expect(receiver.received[0]).toEqual(singleDelivery[0]);
      expect(singleDelivery[0]?.body).toContain(Buffer.from('a cat').toString('base64'));
    }, 60_000);

    it('reports the response of the service, and does not retry refusals', async () => {
      receiver.answer = 401;
      const refused = await post('/notify', { body: 'x', urls: `misskey://secrettoken@127.0.0.1:${receiver.port}` });
      receiver.answer = 200;
      expect(refused.status).toBe(424);
      expect(refused.text).toContain('Failed to send Misskey notification. The Apprise library said: ');
      expect(refused.text).toContain('error=401');
      expect(refused.text).not.toContain('secrettoken');
    });

    it('is tested from the page', async () => {
      const key = (
        await api<NotifyKey>('POST', '/keys/page/destinations', { url: `pjet://127.0.0.1:${receiver.port}/abcdefgh` })
      ).data;
      expect(key.destinations).toMatchObject([{ service: 'Pushjet', needsEngine: false }]);
      expect(key.destinations[0]?.url).not.toContain('abcdefgh');
      const tried = await api<{ results: unknown[] }>('POST', '/keys/page/test', {});
      expect(tried.data.results).toMatchObject([{ ok: true, detail: 'Sent Pushjet notification.' }]);
      const wrong = await api<{ error: { fields: unknown } }>('POST', '/keys/page/destinations', { url: 'pjet://' });
      expect(wrong.status).toBe(422);
      expect(JSON.stringify(wrong.data)).toContain(problems.engineRefused().slice(0, -1));
    });

    it.each(['dbus://', 'gnome://x', 'blink1://x', 'macosx://', 'file:///etc/passwd'])(
      'does not open %s, which acts on this computer',
      async (url) => {
        const native = /^(dbus|gnome|macosx)/.test(url);
        const added = await post('/add/local', { config: `${url}\npush://x\n`, format: 'text' });
        if (native) expect(added.text).not.toContain('does nothing');
        else expect(added.text).toContain('Line 1 does nothing: ');
        expect(added.text).not.toContain('library');
      },
    );

    it('reads no file that a URL names', async () => {
      const secret = join(folder, 'service-account.json');
      writeFileSync(secret, JSON.stringify({ project_id: 'p', private_key: 'k', client_email: 'e' }));
      const url = `fcm://project@device?mode=oauth2&keyfile=${secret}`;
      const sent = await post('/notify', { body: 'x', urls: url });
      expect([200, 204, 424]).toContain(sent.status);
      expect(sent.text).not.toContain('Sent ');
      expect(receiver.received).toEqual([]);
    });
  },
);

interface Catalogue {
  readonly schemas: readonly {
    readonly service_name: string;
    readonly served_by: string;
    readonly details: { readonly templates: readonly string[] };
  }[];
}

async function details(): Promise<Catalogue> {
  return (
    await fetch(`${host.url('notify')}/details`, { headers: { accept: 'application/json' } })
  ).json() as Promise<Catalogue>;
}

describe.skipIf(lacksLibrary)('a service without HTTP', () => {
  beforeEach(() => openKeyedHost('apprise-2'));
  afterEach(closeHouse);

  it('receives its message: IRC', async () => {
    const received: string[] = [];
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      createInterface({ input: socket }).on('line', (line) => {
        received.push(line);
        const [command = '', argument = ''] = line.split(' ');
        if (command === 'USER') socket.write(':irc.test 001 homeport :Welcome\r\n');
        if (command === 'PING') socket.write(`:irc.test PONG irc.test ${argument}\r\n`);
        if (command === 'JOIN') {
          socket.write(`:homeport!h@h JOIN ${argument}\r\n:irc.test 366 homeport ${argument} :End of /NAMES list.\r\n`);
        }
        if (command === 'QUIT') socket.end();
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      await post('/notify', { body: 'the tide is high', urls: `irc://homeport@127.0.0.1:${port}/%23alerts` });
      await vi.waitFor(() => expect(received.join('\n')).toMatch(/PRIVMSG #alerts :.*the tide is high/), 20_000);
    } finally {
      server.close();
    }
  }, 60_000);
});

describe.skipIf(lacksLibrary)('GET /details', () => {
  beforeEach(() => openKeyedHost('apprise-2'));
  afterEach(closeHouse);

  it('lists the implementation of each service, and starts no Python for known ones', async () => {
    const { schemas } = await details();
    const by = (name: string) => schemas.find(({ service_name }) => service_name === name);
    expect(by('Gotify')).toMatchObject({ served_by: 'homeport' });
    expect(by('Misskey')).toMatchObject({ served_by: 'apprise' });
    expect(by('Misskey')?.details.templates).toContain('{schema}://{token}@{host}');
    expect(by('XMPP')?.served_by).toMatch(/^apprise \(needs slixmpp/);
    expect(
      schemas.filter(({ service_name }) => /blink|dbus|windows/i.test(service_name)).map(({ served_by }) => served_by),
    ).toEqual([]);
    expect(schemas.length).toBeGreaterThan(160);

    const before = host.dataDir;
    const [pid = 0] = await workers();
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(async () => expect(await workers()).toEqual([]));
    expect((await details()).schemas).toHaveLength(schemas.length);
    expect(await workers()).toEqual([]);
    expect(existsSync(join(before, 'notify', 'apprise-catalogue.json'))).toBe(true);
    const page = await (await fetch(`${host.url('notify')}/details`, { headers: { accept: 'text/html' } })).text();
    expect(page).toContain('Misskey: misskey://, misskeys://, by apprise');
  }, 60_000);

  it('lists the services of the engine while it is not installed', async () => {
    rmSync(join(folder, 'engine'), { recursive: true });
    const { schemas } = await details();
    expect(schemas.find(({ service_name }) => service_name === 'IRC')).toMatchObject({
      protocols: ['irc'],
      secure_protocols: ['ircs'],
      served_by: 'apprise (not installed)',
    });
    expect(schemas.find(({ service_name }) => service_name === 'ntfy')?.served_by).toBe('homeport');
  }, 60_000);
});
