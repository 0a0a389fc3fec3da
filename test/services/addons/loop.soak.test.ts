import { createServer, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { buildConfig, customPreset, makeUser, openAddonsHost } from './rig.ts';
import { streamManifest } from './fake-addon.ts';

/** Number of requests that fills all caches: names, responses, hashes and lists. */
const first = 1200;
const half = 900;
/** Tolerance for buffers before garbage collection and compiled code, in bytes. */
const slack = 4_000_000;
const perTitle = 100;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Returns the used memory in bytes. */
async function getHeapBytes(): Promise<number> {
  for (let round = 0; round < 4; round += 1) {
    collect();
    // Lets pending callbacks release their memory.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Builds unique streams of a title: half of them files, half of them torrents. */
function streamsOfTitle(title: string): readonly object[] {
  const name = (index: number): string => `The.Film.${title}.2019.1080p.WEB-DL.x264-GRP${String(index)}.mkv`;
  const hash = (index: number): string =>
    `${Buffer.from(`${title} ${String(index)}`).toString('hex')}${'0'.repeat(40)}`;
  return Array.from({ length: perTitle }, (_, index) =>
    index % 2 === 0
      ? {
          name: 'Up',
          description: `${name(index)}\n👤 ${String(index)} 💾 4 GB`,
          url: `http://h.example/${title}/${String(index)}`,
        }
      : { name: 'Up', title: name(index), infoHash: hash(index).slice(0, 40) },
  );
}

/** Addon, metadata service and TorBox in one process without caches. */
const world: RequestListener = (request, response) => {
  const path = decodeURIComponent(request.url?.split('?')[0] ?? '');
  const title = /\/(tt\d+)\.json$/.exec(path)?.[1] ?? '';
  request.resume();
  response.setHeader('content-type', 'application/json');
  if (path.endsWith('/manifest.json')) response.end(JSON.stringify(streamManifest));
  else if (path.startsWith('/stream/')) response.end(JSON.stringify({ streams: streamsOfTitle(title) }));
  else if (path.startsWith('/meta/'))
    response.end(JSON.stringify({ meta: { name: `The Film ${title}`, year: '2019' } }));
  else response.end(JSON.stringify({ success: true, data: [], detail: '', error: null }));
};

// Simulates one hour of a household without pauses.
it('does not use more memory after thousands of lists', async () => {
  const server = createServer(world).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  try {
    await using host = await openAddonsHost({ PROVIDER_H_BASE_URL: baseUrl, METADATA_URL: baseUrl });
    const { base } = await makeUser(
      host,
      buildConfig([customPreset('u', 'Up', `${baseUrl}/manifest.json`, { timeout: 30_000 })], {
        services: [{ id: 'torbox', enabled: true, credentials: { apiKey: 'TBKEY' } }],
        excludedStreamExpressions: [{ expression: "quality(streams, 'CAM')" }],
        rankedRegexPatterns: [{ name: 'Web', pattern: 'web-?dl', score: 5 }],
        sortCriteria: { global: [{ key: 'regexScore' }, { key: 'cached' }] },
        deduplicator: { enabled: true },
        titleMatching: { enabled: true },
      }),
    );
    let title = 100_000;
    const measureHeap = async (requests: number): Promise<number> => {
      for (let request = 0; request < requests; request += 1) {
        // Every third title is new, the others were requested before.
        const id = request % 3 === 0 ? (title += 1) : title - (request % 20);
        const response = await fetch(`${base}/stream/movie/tt${String(id)}.json`);
        const { byteLength } = await response.arrayBuffer();
        if (byteLength < 10_000) throw new Error('the list is empty');
      }
      return await getHeapBytes();
    };
    const sizes = [await measureHeap(first), await measureHeap(half), await measureHeap(half)];
    const [, firstSize = 0, secondSize = 0] = sizes;
    expect(secondSize - firstSize, `MB held: ${sizes.map((size) => (size / 1e6).toFixed(1)).join(', ')}`).toBeLessThan(
      slack,
    );
  } finally {
    server.closeAllConnections();
    server.close();
  }
}, 900_000);
