import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addons } from '../../../services/addons/index.ts';
import { control } from '../../../services/control/index.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { git } from '../../../services/git/index.ts';
import { push } from '../../../services/push/index.ts';
import { uptime } from '../../../services/uptime/index.ts';
import { api } from '../../support/api.ts';
import { lan, openHome, phoneAddress, type Answer, type Asking, type Home } from '../../support/gateway/phone.ts';
import { buildConfig } from '../addons/rig.ts';
import { adminAuthorization } from '../../support/host.ts';

const folder = mkdtempSync(join(tmpdir(), 'gateway-sides-'));
const shared = ['push', 'git', 'addons', 'downloads', 'uptime'];
let home: Home;
beforeAll(async () => {
  home = await openHome({
    services: [push, git, addons, downloads, uptime, control, gateway],
    environment: { GATEWAY_SHARED: shared.join(','), DOWNLOAD_DIR: folder, HOMEPORT_TRUSTED_PROXIES: phoneAddress },
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'film.mp4'), 'a film');
  await api(home.host.url('git'), '/api/v1/user/repos', { method: 'POST', body: '{"name":"notes","auto_init":true}' });
  await fetch(`${home.host.url('push')}/door`, {
    method: 'PUT',
    headers: { Authorization: adminAuthorization, Filename: 'door.txt' },
    body: 'a picture of the door',
  });
  const page = { method: 'POST', body: JSON.stringify({ slug: 'home', title: 'Home' }) };
  await api(home.host.url('control'), '/api/uptime/status-pages', page);
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Access path of a client: the names that it uses for services, and the route of its requests. */
interface Side {
  readonly base: (service: string) => string;
  readonly ask: (url: string, options?: Asking) => Promise<Answer>;
}

const authorized = ({ headers, ...rest }: Asking = {}): Asking => ({
  ...rest,
  headers: { Authorization: adminAuthorization, ...headers },
});
const sides: Record<string, () => Side> = {
  'this machine': () => ({
    base: (service) => home.host.url(service),
    async ask(url, options) {
      const { method = 'GET', headers = {}, body } = authorized(options);
      const reply = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
      return { status: reply.status, headers: {}, body: await reply.text() };
    },
  }),
  'the network, by name': () => ({
    base: (service) => `https://${service}.nas.local:${home.port}`,
    ask: (url, options) => home.ask(url, authorized(options)),
  }),
  'the network, by port': () => ({
    base: (service) => `https://${lan}:${home.host.port(service)}`,
    ask: (url, options) => home.ask(url, authorized(options)),
  }),
  'behind another proxy': () => ({
    base: (service) => `https://${service}.example.org`,
    ask(url, options) {
      const { hostname, pathname, search } = new URL(url);
      const requestHeaders = authorized(options);
      const service = hostname.split('.')[0] ?? '';
      return home.ask(`https://${service}.nas.local${pathname}${search}`, {
        ...requestHeaders,
        headers: {
          ...requestHeaders.headers,
          'X-Forwarded-Host': hostname,
          'X-Forwarded-Proto': 'https',
          'X-Forwarded-For': '203.0.113.9',
        },
      });
    },
  }),
};

describe.each(Object.keys(sides))('requests from %s', (name) => {
  let side: Side;
  const ask = (service: string, path: string, options?: Asking): Promise<Answer> =>
    side.ask(`${side.base(service)}${path}`, options);
  beforeAll(() => {
    side = sides[name]?.() ?? (undefined as never);
  });

  it('links attachments at the address of the request', async () => {
    const { body } = await ask('push', '/door/json?poll=1');
    const { attachment } = JSON.parse(body.trim().split('\n')[0] ?? '') as { attachment: { url: string } };
    expect(attachment.url.startsWith(`${side.base('push')}/file/`)).toBe(true);
    expect((await side.ask(attachment.url)).body).toBe('a picture of the door');
    const put = await ask('push', '/gate', { method: 'PUT', headers: { Filename: 'a.txt' }, body: 'said at once' });
    const message = JSON.parse(put.body) as { attachment: { url: string } };
    expect((await side.ask(message.attachment.url)).body).toBe('said at once');
    expect(message.attachment.url.startsWith(`${side.base('push')}/file/`)).toBe(true);
    const events = await ask('push', '/gate/sse?poll=1');
    expect(events.body).toContain(`"url":"${side.base('push')}/file/`);
  });

  it('clones a repository at the address of the request', async () => {
    const { clone_url } = JSON.parse((await ask('git', '/api/v1/repos/ada/notes')).body) as { clone_url: string };
    expect(clone_url).toBe(`${side.base('git')}/ada/notes.git`);
    expect((await side.ask(`${clone_url}/info/refs?service=git-upload-pack`)).body).toContain(
      'service=git-upload-pack',
    );
  });

  it('installs an addon at the address of the request', async () => {
    const profile = await ask('addons', '/configure', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ config: buildConfig([]), password: 'long enough' }),
    });
    const { data } = JSON.parse(profile.body) as { data: { manifestUrl: string } };
    expect(data.manifestUrl.startsWith(`${side.base('addons')}/`)).toBe(true);
    expect((await side.ask(data.manifestUrl)).status).toBe(200);
  });

  it('links the feed to its status page', async () => {
    expect((await ask('uptime', '/status/home/rss')).body).toContain(`<link>${side.base('uptime')}/status/home</link>`);
  });

  it('serves downloads at the listed address', async () => {
    expect((await ask('downloads', '/download/film.mp4')).body).toBe('a film');
  });
});
