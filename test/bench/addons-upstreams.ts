import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

/** Five addons of 200 streams each and one that never answers, in a separate process whose CPU time is not measured. */
const count = 5;
const streamsEach = 200;
const resolutions = ['2160p', '1080p', '720p', '480p'];
const qualities = ['BluRay.REMUX', 'WEB-DL', 'WEBRip', 'HDTV', 'BluRay'];
const sounds = ['TrueHD.7.1.Atmos', 'DDP5.1', 'AAC2.0', 'DTS-HD.MA.5.1'];

/** Builds the streams of a title. Names are unique per title unless `known` is set. */
function buildStreams(number: number, title: string, known: boolean): readonly object[] {
  const seed = known ? '1' : title;
  return Array.from({ length: streamsEach }, (_, index) => {
    const name = `The.Film.${seed}.${String(1950 + (index % 70))}.${resolutions[index % 4] ?? ''}.${qualities[index % 5] ?? ''}.${sounds[(index >> 2) % 4] ?? ''}.x265-GRP${String(number)}x${String(index)}.mkv`;
    return {
      name: '[RD+] Up',
      description: `${name}\n👤 ${String(index)} 💾 ${String(1 + (index % 60))} GB ⚙️ Idx\n🇬🇧 / 🇫🇷`,
      url: `http://127.0.0.1:1/${title}/${String(index)}`,
      behaviorHints: { filename: name, videoSize: (1 + index) * 1e8 },
    };
  });
}

/** Response of the size of a complete compressed list, to measure a program that only sends it. */
const plainBody = gzipSync(
  JSON.stringify({ streams: Array.from({ length: count }, (_, number) => buildStreams(number, '1', true)).flat() }),
);

async function open(number: number): Promise<number> {
  const manifest = { id: `b${String(number)}`, name: 'B', version: '1.0.0', resources: ['stream'], types: ['movie'] };
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    response.setHeader('content-type', 'application/json');
    if (path.startsWith('/bare/')) {
      response.setHeader('content-encoding', 'gzip');
      return void response.end(plainBody);
    }
    if (path === '/manifest.json') return void response.end(JSON.stringify({ ...manifest, catalogs: [] }));
    if (number === count) return;
    const streams = buildStreams(number, /tt(\d+)/.exec(path)?.[1] ?? '0', path.includes('known'));
    response.end(JSON.stringify({ streams }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

console.log((await Promise.all(Array.from({ length: count + 1 }, (_, number) => open(number)))).join(' '));
