import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Behavior of a fake addon. Paths are unchanged and without the query. */
export interface FakeAddonOptions {
  readonly manifest?: unknown;
  readonly streams?: readonly unknown[];
  /** Answers a request instead of the other options. Returns true when it did. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
}

export interface FakeAddon extends AsyncDisposable {
  readonly url: string;
  readonly manifestUrl: string;
  /** Requested paths with query. */
  readonly requests: readonly string[];
  readonly userAgents: readonly string[];
}

export const streamManifest = {
  id: 'fake.streams',
  name: 'Fake',
  version: '1.0.0',
  description: 'For tests.',
  resources: ['stream'],
  types: ['movie', 'series'],
  idPrefixes: ['tt'],
  catalogs: [],
};

/** Stremio addon on the loopback interface. */
export async function openFakeAddon(options: FakeAddonOptions = {}): Promise<FakeAddon> {
  const requests: string[] = [];
  const userAgents: string[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const target = request.url ?? '/';
    requests.push(target);
    userAgents.push(request.headers['user-agent'] ?? '');
    if ((await options.answer?.(request, response)) === true) return;
    const path = target.split('?', 1)[0] ?? '';
    if (path.endsWith('/manifest.json')) sendJson(response, options.manifest ?? streamManifest);
    else if (path.includes('/stream/')) sendJson(response, { streams: options.streams ?? [] });
    else response.writeHead(404).end();
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    url,
    manifestUrl: `${url}/manifest.json`,
    requests,
    userAgents,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const release = (rest: string): string => `The.Movie.2019.${rest}`;

/** Recorded response of the addon Alpha. */
export const alphaStreams = [
  {
    name: '[RD+] Up\n4k',
    description: `${release('2160p.BluRay.REMUX.HEVC.DV.TrueHD.7.1.Atmos-BBB.mkv')}\n👤 12 💾 55.88 GB ⚙️ IdxOne\n🇬🇧 / 🇫🇷`,
    url: 'http://127.0.0.1:1/v/The.Movie.2019.2160p.BluRay.REMUX.HEVC.DV.TrueHD.7.1.Atmos-BBB.mkv',
    behaviorHints: {
      videoSize: 60_000_000_000,
      filename: release('2160p.BluRay.REMUX.HEVC.DV.TrueHD.7.1.Atmos-BBB.mkv'),
    },
  },
  {
    name: '[TB download] Up 1080p',
    url: 'http://127.0.0.1:1/v/The.Movie.2019.1080p.WEB-DL.DDP5.1.x265-CCC.mkv',
    behaviorHints: { videoSize: 4_000_000_000, filename: release('1080p.WEB-DL.DDP5.1.x265-CCC.mkv') },
  },
  {
    name: 'Web',
    url: 'http://127.0.0.1:1/v/The.Movie.2019.720p.HDTV.x264-DDD.mp4',
    behaviorHints: { videoSize: 1_500_000_000, filename: release('720p.HDTV.x264-DDD.mp4') },
  },
  {
    name: 'Torrent',
    title: `${release('1080p.BluRay.x264-EEE.mkv')}\n👤 55 💾 8.5 GB ⚙️ IdxTwo`,
    infoHash: '2a4e0006f054296755b7cbed0127c0c941c854c4',
    fileIdx: 2,
    sources: ['tracker:udp://t.example:80/announce'],
  },
  { name: 'Y', title: 'Trailer', ytId: 'dQw4w9WgXcQ' },
  { name: 'E', title: 'Watch on site', externalUrl: 'https://example.com/watch' },
] as const;

/** Recorded response of the addon Beta: one stream of Alpha, and one with only a name. */
export const betaStreams = [
  alphaStreams[0],
  {
    name: 'B',
    url: 'http://127.0.0.1:1/v/Other.Movie.2019.1080p.mkv',
    behaviorHints: { filename: 'Other.Movie.2019.1080p.mkv' },
  },
] as const;
