import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fixtureMedia } from './media.ts';
import { channel, page } from './pages.ts';

/** Requests that the site received since its start or reset. */
export interface SiteStats {
  /** Number of requests by path without the query. */
  readonly hits: Readonly<Record<string, number>>;
  /** Start positions of Range requests beyond the beginning, in order. */
  readonly ranges: readonly { readonly path: string; readonly start: number }[];
  /** Maximum number of concurrent media responses, counted after 64 KiB, since a probe reads only the beginning. */
  readonly maxConcurrent: number;
  readonly active: number;
  /** User agent of the last request. */
  readonly headers: IncomingMessage['headers'];
}

export interface FixtureSite extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly address: string;
  url(path: string): string;
  /** Returns the address of `file` sent at `rate` KiB per second; `tag` makes the address unique. */
  slow(rate: number, file?: string, tag?: string): string;
  /** Returns the address of `big.mp4`, which is sent slowly until the test releases it. */
  hold(): HeldFile;
  /** Replaces the feed at `/channel/<name>.rss` by one with these titles; undefined removes it. */
  publish(name: string, titles: readonly string[] | undefined): string;
  stats(): SiteStats;
  reset(): void;
}

/** File whose transfer continues on request of the test. */
export interface HeldFile {
  readonly url: string;
  /** Path in the statistics of the site. */
  readonly path: string;
  /** Sends the rest of running and later transfers without delay. */
  readonly release: () => void;
}

const countedFrom = 64 * 1024;
/**
 * Speed of a held file in bytes per second. It takes 18 seconds without a release; at a lower speed, the extractor would
 * report its progress late, because it reads blocks of about one second.
 */
const heldSpeed = 100 * 1024;
const types: Readonly<Record<string, string>> = {
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
  '.m4a': 'audio/mp4',
  '.jpg': 'image/jpeg',
  '.ts': 'video/mp2t',
  '.m3u8': 'application/vnd.apple.mpegurl',
  '.mpd': 'application/dash+xml',
  '.vtt': 'text/vtt',
  '.png': 'image/png',
};

/** Transmission of a file, selected by the first segment of the path. */
interface Manner {
  readonly file: string;
  readonly bytesPerSecond?: number;
  /** Resolves when the rest is sent without delay. */
  readonly released?: Promise<void>;
  readonly ignoreRange?: boolean;
  /** Responses from byte 0 end after this many bytes. */
  readonly cutAfter?: number;
  /** Responses from byte 0 stop after this many bytes, while the connection stays open. */
  readonly silentAfter?: number;
  /** Refuses range requests, so that the file is never complete. */
  readonly refuseRange?: boolean;
  readonly hang?: boolean;
}

/** Opens a site with small real videos on a free loopback port, and with the faults of real servers. */
export async function startFixtureSite(): Promise<FixtureSite> {
  const media = await fixtureMedia();
  const tally = {
    hits: {} as Record<string, number>,
    ranges: [] as { path: string; start: number }[],
    maxConcurrent: 0,
    active: 0,
    headers: {} as IncomingMessage['headers'],
  };
  const channels = new Map<string, readonly string[]>();
  /** Time of the first request of each live stream. */
  const streams = new Map<string, number>();
  const held = new Map<string, PromiseWithResolvers<void>>();
  const reset = (): void => {
    Object.assign(tally, { hits: {}, ranges: [], maxConcurrent: tally.active });
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://site');
    const path = decodeURIComponent(url.pathname);
    tally.hits[path] = (tally.hits[path] ?? 0) + 1;
    tally.headers = request.headers;
    if (path === '/stats') return void response.end(JSON.stringify(tally));
    if (path === '/reset') return void response.end(String(reset()));
    // Accepts the request and never responds.
    if (path === '/mute') return;
    // Page for signed-in users.
    if (path === '/p/cookie' && !/(^|; )session=fixture(;|$)/.test(request.headers.cookie ?? '')) {
      return void response.writeHead(403).end('members alone');
    }
    const status = /^\/s\/(\d{3})$/.exec(path)?.[1];
    if (status !== undefined) return void response.writeHead(Number(status)).end('status');
    const titles = channels.get(/^\/channel\/(.+)\.rss$/.exec(path)?.[1] ?? '');
    if (titles !== undefined) {
      const body = channel(url.searchParams.get('title') ?? 'Channel', titles, address, url.searchParams.get('image'));
      return void response.writeHead(200, { 'Content-Type': 'application/rss+xml' }).end(body);
    }
    const live = /^\/live\/(.+)\.m3u8$/.exec(path)?.[1];
    if (live !== undefined) {
      const startedAt = streams.get(live) ?? Date.now();
      streams.set(live, startedAt);
      response.writeHead(200, { 'Content-Type': 'application/vnd.apple.mpegurl' });
      return void response.end(
        liveWindow((Date.now() - startedAt) / 1000, Number(url.searchParams.get('n') ?? Infinity)),
      );
    }
    const html = page(path, url.searchParams, address);
    if (html !== undefined) return void response.writeHead(200, { 'Content-Type': html.type }).end(html.body);
    const released = held.get(path)?.promise;
    await send(released === undefined ? getManner(path) : { file: 'big.mp4', released }, path, request, response);
  }

  async function send(
    behavior: Manner,
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const full = join(media, join('/', behavior.file));
    const fileStat = await stat(full).catch(() => undefined);
    if (fileStat?.isFile() !== true) return void response.writeHead(404).end('no such file');
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    const start = range === null || behavior.ignoreRange === true ? 0 : Number(range[1]);
    if (start > 0) tally.ranges.push({ path, start });
    if (start > 0 && behavior.refuseRange === true) return void response.writeHead(503).end('no ranges today');
    if (start >= fileStat.size)
      return void response.writeHead(416, { 'Content-Range': `bytes */${fileStat.size}` }).end();
    const last = range?.[2] ? Math.min(Number(range[2]), fileStat.size - 1) : fileStat.size - 1;
    const partial = range !== null && behavior.ignoreRange !== true;
    response.writeHead(partial ? 206 : 200, {
      'Content-Type': types[extname(full)] ?? 'application/octet-stream',
      'Content-Length': last - start + 1,
      ...(behavior.ignoreRange === true ? {} : { 'Accept-Ranges': 'bytes' }),
      ...(partial ? { 'Content-Range': `bytes ${start}-${last}/${fileStat.size}` } : {}),
    });
    response.flushHeaders();
    if (request.method === 'HEAD') return void response.end();
    if (behavior.hang === true) return;
    await stream(full, start, last, behavior, response);
  }

  async function stream(
    full: string,
    start: number,
    last: number,
    behavior: Manner,
    response: ServerResponse,
  ): Promise<void> {
    let sent = 0;
    let counted = false;
    const closed = once(response, 'close');
    let isReleased = behavior.released === undefined;
    const released = behavior.released?.then(() => (isReleased = true));
    try {
      for await (const chunk of createReadStream(full, { start, end: last, highWaterMark: 16 * 1024 })) {
        const bytes = chunk as Buffer;
        if (response.destroyed) return;
        if (!response.write(bytes)) await Promise.race([once(response, 'drain'), closed]);
        sent += bytes.length;
        if (!counted && sent > countedFrom) {
          counted = true;
          tally.active += 1;
          tally.maxConcurrent = Math.max(tally.maxConcurrent, tally.active);
        }
        if (start === 0 && behavior.silentAfter !== undefined && sent >= behavior.silentAfter)
          return void (await closed);
        if (start === 0 && behavior.cutAfter !== undefined && sent >= behavior.cutAfter) return void response.destroy();
        if (behavior.bytesPerSecond !== undefined) await sleep((bytes.length * 1000) / behavior.bytesPerSecond);
        if (!isReleased) await Promise.race([sleep((bytes.length * 1000) / heldSpeed), released, closed]);
      }
      response.end();
      await closed;
    } finally {
      if (counted) tally.active -= 1;
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the fixture site has no port');
  const address = `http://127.0.0.1:${bound.port}`;
  return {
    address,
    url: (path) => `${address}${path}`,
    slow: (rate, file = 'big.mp4', tag) => `${address}/slow/${rate}/${file}${tag === undefined ? '' : `?${tag}`}`,
    hold() {
      const path = `/held/${held.size}/big.mp4`;
      const released = Promise.withResolvers<void>();
      held.set(path, released);
      return { url: `${address}${path}`, path, release: () => released.resolve() };
    },
    publish(name, titles) {
      if (titles === undefined) channels.delete(name);
      else channels.set(name, titles);
      return `${address}/channel/${name}.rss?title=${name}`;
    },
    stats: () => structuredClone(tally),
    reset,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function getManner(path: string): Manner {
  const [, kind = '', number = '', ...rest] = path.split('/');
  const file = rest.join('/');
  switch (kind) {
    case 'slow':
      return { file, bytesPerSecond: Number(number) * 1024 };
    case 'slownorange':
      return { file, bytesPerSecond: Number(number) * 1024, ignoreRange: true };
    case 'cut0':
      return { file, cutAfter: Number(number) };
    case 'stall':
      return { file, silentAfter: Number(number) };
    case 'dead':
      return { file, cutAfter: Number(number), refuseRange: true };
    case 'norange':
      return { file: [number, ...rest].join('/'), ignoreRange: true };
    case 'hang':
      return { file: [number, ...rest].join('/'), hang: true };
    default:
      return { file: path };
  }
}

const segmentSeconds = 2;

/** Builds the playlist of a live stream after some seconds: the last segments, which repeat. It ends after `total`. */
function liveWindow(seconds: number, total: number): string {
  const last = Math.floor(Math.min(seconds, total) / segmentSeconds) + 2;
  const first = Math.max(0, last - 4);
  const segments = Array.from({ length: last - first + 1 }, (_, index) => {
    const number = first + index;
    const discontinuity = number % 2 === 0 && number > 0 ? '#EXT-X-DISCONTINUITY\n' : '';
    return `${discontinuity}#EXTINF:${segmentSeconds}.0,\n/hls/v360-${number % 2}.ts?${number}\n`;
  });
  const head = `#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:${segmentSeconds}\n#EXT-X-MEDIA-SEQUENCE:${first}\n`;
  return `${head}${segments.join('')}${seconds >= total ? '#EXT-X-ENDLIST\n' : ''}`;
}
