import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { openEngines } from '../../../main/host/engines/engines.ts';
import { internalAddress } from '../../../services/downloads/domain/address.ts';
import { Extractor } from '../../../services/downloads/engine/extractor.ts';
import { OutwardProxy, type AddressOf } from '../../../services/downloads/engine/outward.ts';
import { Worker } from '../../../services/downloads/engine/worker.ts';
import { enginesFolder } from '../../support/host.ts';
import { silentLog } from '../../support/place.ts';
import { requireEngines } from './rig.ts';

const engines = openEngines({ folder: enginesFolder, settings: () => ({}), log: silentLog });
/** The site is out there, and so is nothing else. */
const addressOf: AddressOf = (host) =>
  Promise.resolve(['site.test', 'localhost'].includes(host) ? '127.0.0.1' : internalAddress(host, host));

let folder: string;
let server: Server;
let port: number;
/** Requests by host and path. */
let asked: string[];
beforeAll(requireEngines);
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-outward-'));
  asked = [];
  server = createServer((request, response) => {
    asked.push(`${request.headers.host?.split(':')[0]} ${request.url}`);
    const inside = `http://127.0.0.1:${port}/inside`;
    if (request.url === '/redirect.mp4') return void response.writeHead(302, { Location: inside }).end();
    if (request.url === '/list.m3u8') {
      response.setHeader('Content-Type', 'application/vnd.apple.mpegurl');
      return void response.end(`#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${inside}.ts\n#EXT-X-ENDLIST\n`);
    }
    response.writeHead(200, { 'Content-Type': 'video/mp4', 'Content-Length': 5 }).end('video');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  delete process.env['https_proxy'];
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
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

describe.each([
  ['a loaded extractor', true],
  ['the executable', false],
])('%s on a site out there', (_name, keepLoaded) => {
  it.each(['/redirect.mp4', '/list.m3u8'])('is not led inside by %s', async (path) => {
    // The worker lets a proxy's own host pass, which is how a site of this machine can be out there for it.
    if (keepLoaded) process.env['https_proxy'] = 'http://localhost:9';
    const parts = { engines, clock: systemClock, log: silentLog, keepLoaded, allowPrivateAddresses: false };
    await using subject = new Extractor({ ...parts, addressOf });
    const host = keepLoaded ? 'localhost' : 'site.test';
    const { code, errors } = await fetchWith((...rest) => subject.run(...rest), `http://${host}:${port}${path}`);
    expect(code).toBe(1);
    expect(errors).toContain('Refusing to fetch internal address');
    expect(asked).toContain(`${host} ${path}`);
    expect(asked.filter((each) => each.includes('inside'))).toEqual([]);
  });
});

describe('the way outward', () => {
  it('lets through what is out there, to the very address that was judged', async () => {
    const parts = { engines, clock: systemClock, log: silentLog, keepLoaded: false, allowPrivateAddresses: false };
    await using subject = new Extractor({ ...parts, addressOf });
    const { code, errors } = await fetchWith((...rest) => subject.run(...rest), `http://site.test:${port}/clip.mp4`);
    expect([code, errors]).toEqual([0, '']);
    const tunnelled = await fetchWith((...rest) => subject.run(...rest), `https://127.0.0.1:${port}/clip.mp4`);
    expect(tunnelled.errors).toContain('Refusing to fetch internal address');
  });

  it('is taken by ffmpeg as well', async () => {
    const library = await engines.library('yt-dlp');
    if (library === undefined) throw new Error('yt-dlp cannot be imported here');
    await using proxy = await OutwardProxy.open(addressOf);
    await using worker = await Worker.open(library, { engines, clock: systemClock, log: silentLog });
    const way = { internal: true, proxy: proxy.url };
    const ran = await fetchWith(
      (args, options) => worker.run(args, options, way),
      `http://localhost:${port}/list.m3u8`,
      ['--downloader', 'ffmpeg'],
    );
    expect(ran.code).toBe(1);
    expect(asked.filter((each) => each.includes('inside'))).toEqual([]);
  });
});
