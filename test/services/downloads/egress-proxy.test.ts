import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { sharedEngines } from '../../support/engines.ts';
import { createInternalAddressRefusal } from '../../../services/downloads/domain/address.ts';
import { Extractor } from '../../../services/downloads/engine/extractor.ts';
import { EgressProxy, type ResolveAddress } from '../../../services/downloads/engine/egress-proxy.ts';
import { getProxies } from '../../../services/downloads/engine/network-policy.ts';
import { Worker } from '../../../services/downloads/engine/worker.ts';
import { startFixtureSite } from '../../support/fixture-site/site.ts';
import { silentLog } from '../../support/database-location.ts';
import { requireImpersonation } from './rig.ts';

const engines = sharedEngines();
/** Treats the fixture site as public, and all other hosts as internal. */
const resolveAddress: ResolveAddress = (host) =>
  Promise.resolve(['site.test', 'localhost'].includes(host) ? '127.0.0.1' : createInternalAddressRefusal(host, host));

let folder: string;
let server: Server;
let port: number;
/** Requests by host and path. */
let requests: string[];
let connections: number;
/** Clients by request: with the client hints of a browser, or without. */
let agents: string[];
beforeAll(async () => {
  await requireImpersonation();
  server = createServer((request, response) => {
    agents.push(request.headers['sec-ch-ua'] === undefined ? 'plain' : 'impersonated');
    requests.push(`${request.headers.host?.split(':')[0]} ${request.url}`);
    const inside = `http://127.0.0.1:${port}/inside`;
    if (request.url === '/redirect.mp4') return void response.writeHead(302, { Location: inside }).end();
    if (request.url === '/list.m3u8') {
      response.setHeader('Content-Type', 'application/vnd.apple.mpegurl');
      return void response.end(`#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${inside}.ts\n#EXT-X-ENDLIST\n`);
    }
    response.writeHead(200, { 'Content-Type': 'video/mp4', 'Content-Length': 5 }).end('video');
  });
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-outward-'));
  requests = [];
  agents = [];
  connections = 0;
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function fetchWith(
  run: (args: readonly string[], options: Parameters<Extractor['run']>[1]) => Promise<{ code: number | null }>,
  url: string,
  more: readonly string[] = [],
): Promise<{ readonly code: number | null; readonly errors: string }> {
  const errors: string[] = [];
  const args = ['--ignore-config', '-q', '--retries', '0', '--fragment-retries', '0', ...more];
  const { code } = await run([...args, '--abort-on-unavailable-fragments', '-P', folder, '--', url], {
    clock: systemClock,
    signal: new AbortController().signal,
    onLine: (line) => void errors.push(line),
  });
  return { code, errors: errors.join('\n') };
}

/**
 * Configures a proxy at this host. A proxy may run on this computer, which lets the loaded extractor treat a local site
 * as public.
 */
function setProxy(host: string): void {
  vi.stubEnv('https_proxy', `http://${host}:${port}`);
}

describe.each([
  ['a loaded extractor', true, []],
  ['the executable', false, []],
  ['a loaded extractor that looks like a browser', true, ['--impersonate', 'chrome']],
  ['an executable that looks like a browser', false, ['--impersonate', 'chrome']],
])('%s on a public site', (_name, keepLoaded, more) => {
  const host = keepLoaded ? 'localhost' : 'site.test';
  let subject: Extractor;
  beforeAll(() => {
    // Exceptions of the user's proxy settings do not apply.
    vi.stubEnv('no_proxy', '127.0.0.1');
    if (keepLoaded) setProxy(host);
    const parts = { engines, clock: systemClock, log: silentLog, keepLoaded, allowPrivateAddresses: false };
    subject = new Extractor({ ...parts, resolveAddress });
  });
  afterAll(async () => {
    await subject[Symbol.asyncDispose]();
    vi.unstubAllEnvs();
  });
  const fetchIt = (path: string): ReturnType<typeof fetchWith> =>
    fetchWith((...rest) => subject.run(...rest), `http://${host}:${port}${path}`, more);

  it.each(['/redirect.mp4', '/list.m3u8'])('cannot reach internal addresses by %s', async (path) => {
    const { code, errors } = await fetchIt(path);
    expect(code).toBe(1);
    expect(errors).toContain('Refusing to fetch internal address');
    expect(requests).toContain(`${host} ${path}`);
    expect(requests.filter((entry) => entry.includes('inside'))).toEqual([]);
  });

  it('downloads from public addresses with the headers of a browser', async () => {
    expect(await fetchIt('/clip.mp4')).toEqual({ code: 0, errors: '' });
    expect(requests).toContain(`${host} /clip.mp4`);
    expect(agents.at(-1)).toEqual(more.length > 0 ? 'impersonated' : 'plain');
  });
});

describe('the egress proxy', () => {
  it('is also used for TLS', async () => {
    const parts = { engines, clock: systemClock, log: silentLog, keepLoaded: true, allowPrivateAddresses: false };
    await using subject = new Extractor(parts);
    const url = `https://127.0.0.1:${port}/inside`;
    const { code, errors } = await fetchWith((...rest) => subject.run(...rest), url, ['--impersonate', 'chrome']);
    expect([code, connections]).toEqual([1, 0]);
    expect(errors).toContain('CONNECT tunnel failed, response 403');
  });

  it('forwards to public addresses, exactly to the checked address', async () => {
    const parts = { engines, clock: systemClock, log: silentLog, keepLoaded: false, allowPrivateAddresses: false };
    await using subject = new Extractor({ ...parts, resolveAddress });
    const { code, errors } = await fetchWith((...rest) => subject.run(...rest), `http://site.test:${port}/clip.mp4`);
    expect([code, errors]).toEqual([0, '']);
    const tunnelled = await fetchWith((...rest) => subject.run(...rest), `https://127.0.0.1:${port}/clip.mp4`);
    expect(tunnelled.errors).toContain('Refusing to fetch internal address');
  });

  it('permits a configured proxy, only at its port', async () => {
    const parts = { engines, clock: systemClock, log: silentLog, keepLoaded: true, allowPrivateAddresses: false };
    await using subject = new Extractor(parts);
    const proxied = ['http://site.test/clip.mp4', `http://localhost:${port}/clip.mp4`];
    for (const impersonate of [[], ['--impersonate', 'chrome']]) {
      for (const url of proxied) {
        requests = [];
        const named = [`--proxy=http://127.0.0.1:${port}`, ...impersonate];
        expect(await fetchWith((...rest) => subject.run(...rest), url, named)).toEqual({ code: 0, errors: '' });
        expect(requests.every((entry) => entry.includes('http://'))).toBe(true);
        rmSync(join(folder), { recursive: true });
      }
      const otherProxy = [`--proxy=http://127.0.0.1:9`, ...impersonate];
      requests = [];
      const ran = await fetchWith((...rest) => subject.run(...rest), `http://localhost:${port}/clip.mp4`, otherProxy);
      expect([ran.code, requests]).toEqual([1, []]);
    }
    mkdirSync(folder, { recursive: true });
  });

  it('is also used by ffmpeg', async () => {
    vi.stubEnv('no_proxy', '127.0.0.1');
    const library = await engines.library('yt-dlp');
    if (library === undefined) throw new Error('yt-dlp cannot be imported here');
    await using proxy = await EgressProxy.open(resolveAddress);
    setProxy('localhost');
    await using worker = await Worker.open(library, { engines, clock: systemClock, log: silentLog });
    const way = { allowInternal: false, proxies: getProxies(proxy.url, {}) } as const;
    const ran = await fetchWith(
      (args, options) => worker.run(args, options, way),
      `http://localhost:${port}/list.m3u8`,
      ['--downloader', 'ffmpeg'],
    );
    expect(ran.code).toBe(1);
    expect(requests).toContain('localhost /list.m3u8');
    expect(requests.filter((entry) => entry.includes('inside'))).toEqual([]);
  });

  it.each([true, false])('lets ffmpeg download a complete public stream (loaded: %s)', async (keepLoaded) => {
    await using site = await startFixtureSite();
    const redirectUrl = site.url('/short/master.m3u8').replace('127.0.0.1', keepLoaded ? 'localhost' : 'site.test');
    if (keepLoaded) vi.stubEnv('https_proxy', new URL(redirectUrl).origin);
    const parts = { engines, clock: systemClock, log: silentLog, keepLoaded, allowPrivateAddresses: false };
    await using subject = new Extractor({ ...parts, resolveAddress });
    const expected = ['--downloader', 'm3u8:ffmpeg', '-S', 'res:360'];
    expect(await fetchWith((...rest) => subject.run(...rest), redirectUrl, expected)).toMatchObject({ code: 0 });
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it.each([true, false])('refuses RTMP, which does not use proxies (loaded: %s)', async (keepLoaded) => {
    const parts = { engines, clock: systemClock, log: silentLog, keepLoaded, allowPrivateAddresses: false };
    await using subject = new Extractor({ ...parts, resolveAddress });
    const video = { format_id: '0', ext: 'flv', protocol: 'rtmp', url: `rtmp://127.0.0.1:${port}/live/inside` };
    const about = { id: '0', title: 'Inside', extractor: 'generic', extractor_key: 'Generic', formats: [video] };
    const file = join(folder, 'info.json');
    writeFileSync(file, JSON.stringify({ ...about, webpage_url: 'https://site.test/' }));
    const ran = await fetchWith((...rest) => subject.run(...rest), 'https://site.test/', ['--load-info-json', file]);
    expect([ran.code, connections]).toEqual([1, 0]);
    expect(ran.errors).toContain('ffmpeg exited with code');
  });
});
