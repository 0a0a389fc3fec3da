import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type * as address from '../../../services/downloads/domain/address.ts';
import { dataFolderWith, openRig, requireImpersonation } from './rig.ts';

const outside = '127.0.0.2';

// This loopback address represents the public network.
vi.mock('../../../services/downloads/domain/address.ts', async (original) => {
  const module = await original<typeof address>();
  return { ...module, isInternal: (ip: string) => ip !== outside && module.isInternal(ip) };
});

let server: Server;
let port: number;
let dataDir: string;
/** Paths that were requested from the internal server. */
let inside: string[];
beforeEach(async () => {
  inside = [];
  server = createServer((request, response) => {
    const [host = ''] = request.headers.host?.split(':') ?? [];
    if (host !== outside) inside.push(request.url ?? '');
    const target = `http://127.0.0.1:${port}/inside`;
    if (request.url === '/redirect.mp4') return void response.writeHead(302, { Location: `${target}.mp4` }).end();
    if (request.url === '/list.m3u8') {
      response.setHeader('Content-Type', 'application/vnd.apple.mpegurl');
      return void response.end(`#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${target}.ts\n#EXT-X-ENDLIST\n`);
    }
    response.writeHead(200, { 'Content-Type': 'video/mp4', 'Content-Length': 5 }).end('video');
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(dataDir, { recursive: true, force: true });
});

describe.each([
  ['a loaded extractor', true, {}],
  ['a loaded extractor that looks like a browser', true, { impersonate: 'chrome' }],
  ['its executable', false, {}],
])('a row of %s', (_name, keepLoaded, ytdlOptions) => {
  beforeAll(requireImpersonation, 120_000);

  it.each(['redirect.mp4', 'list.m3u8'])(
    'reports that /%s leads to an internal address',
    async (path) => {
      // The worker permits the host of a proxy, which is why an address of this computer counts as public there.
      if (keepLoaded) vi.stubEnv('https_proxy', `http://${outside}:${port}`);
      dataDir = dataFolderWith({ keepLoaded, retries: 0, ytdlOptions });
      await using rig = await openRig({ dataDir, environment: { ALLOW_PRIVATE_ADDRESSES: 'false' } });
      const url = `http://${outside}:${port}/${path}`;
      const { uid = '' } = await rig.client.post('/add', { url, quality: 'best', format: 'any' });
      const { status, error } = await rig.client.ended(uid);
      expect([status, error]).toEqual([
        'error',
        expect.stringContaining('Refusing to fetch internal address "127.0.0.1"'),
      ]);
      expect(inside).toEqual([]);
    },
    60_000,
  );
});
