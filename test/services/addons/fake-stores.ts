import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Request to a fake service with its body as text. */
export interface StoreRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
/** Status, JSON and headers of a response. A text body is sent unchanged. */
export type StoreReply = readonly [number, unknown, Readonly<Record<string, string>>?];

export interface FakeStore extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly StoreRequest[];
  /** Replaces the default response for paths with this prefix; undefined restores it. */
  fail(path: string, reply: StoreReply | 'hang' | undefined): void;
}

/** Service on the loopback interface that answers as documented. */
export async function openFakeStore(
  answer: (request: StoreRequest) => StoreReply | Promise<StoreReply>,
): Promise<FakeStore> {
  const requests: StoreRequest[] = [];
  const failures = new Map<string, StoreReply | 'hang'>();
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const part of incoming.setEncoding('utf8')) body += part as string;
    const url = new URL(incoming.url ?? '/', 'http://localhost');
    const request = {
      method: incoming.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: incoming.headers,
      body,
    };
    requests.push(request);
    const failure = [...failures].find(([path]) => url.pathname.startsWith(path))?.[1];
    if (failure === 'hang') return;
    const [status, json, headers = {}] = failure ?? (await answer(request));
    const text = typeof json === 'string' ? json : json === undefined ? '' : JSON.stringify(json);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    requests,
    fail(path, reply) {
      if (reply === undefined) failures.delete(path);
      else failures.set(path, reply);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Torrents of the tests: available at every service, not available, in the library, and forbidden. */
export const hashes = {
  cached: 'e420b7bf55ce1e40d90c451363cec616a5690097',
  uncached: 'f99720cdeb1d3707156dd00b8d9ceae5a77840ef',
  library: '3d33cd3df15eeaad70487f59c2e06b9a51c9025d'.slice(0, 38).padEnd(40, '0'),
} as const;

/** Film with a sample file. */
export const movieFiles = [
  { path: 'The.Movie.2019/Sample/sample.mkv', size: 20_000_000 },
  { path: 'The.Movie.2019/The.Movie.2019.1080p.WEB-DL.x264-GRP.mkv', size: 5_000_000_000 },
] as const;

const toHash = (text: string): string =>
  /btih:([0-9a-f]{40})/i.exec(decodeURIComponent(text))?.[1]?.toLowerCase() ?? '';

/** Real-Debrid as documented: files are selected, and links belong to the selected files. */
export async function openRealDebrid(key = 'RDKEY'): Promise<FakeStore> {
  const torrents = new Map<string, { hash: string; selected: Set<number> | undefined; ready: boolean }>([
    ['LIB', { hash: hashes.library, selected: new Set([2]), ready: true }],
  ]);
  let number = 0;
  const toItem = (
    id: string,
    { hash, selected, ready }: { hash: string; selected: Set<number> | undefined; ready: boolean },
  ) => {
    const files = movieFiles.map(({ path, size }, index) => ({
      id: index + 1,
      path: `/${path}`,
      bytes: size,
      selected: selected?.has(index + 1) === true ? 1 : 0,
    }));
    return {
      ...{
        id,
        hash,
        filename: 'The.Movie.2019',
        bytes: 5_020_000_000,
        progress: ready ? 100 : 3,
        added: '2026-01-01T00:00:00.000Z',
      },
      status: selected === undefined ? 'waiting_files_selection' : ready ? 'downloaded' : 'downloading',
      files,
      links: ready
        ? files
            .filter(({ selected: is }) => is === 1)
            .map((file) => `https://real-debrid.example/d/${id}-${String(file.id)}`)
        : [],
    };
  };
  return await openFakeStore(({ method, path, headers, body }) => {
    if (headers.authorization?.startsWith(`Bearer ${key}`) !== true)
      return [401, { error: 'bad_token', error_code: 8 }];
    const form = new URLSearchParams(body);
    if (path === '/user')
      return [200, { id: 1, username: 'ada', type: 'premium', premium: 1000, expiration: '2030-01-01T00:00:00.000Z' }];
    if (path === '/torrents')
      return [200, [...torrents].map(([id, torrent]) => ({ ...toItem(id, torrent), files: undefined }))];
    if (path === '/torrents/addMagnet') {
      number += 1;
      const hash = toHash(form.get('magnet') ?? '');
      torrents.set(`T${String(number)}`, { hash, selected: undefined, ready: hash === hashes.cached });
      return [201, { id: `T${String(number)}`, uri: '' }];
    }
    const id = path.split('/').at(-1) ?? '';
    const torrent = torrents.get(id);
    if (path.startsWith('/torrents/info/') && torrent !== undefined) return [200, toItem(id, torrent)];
    if (path.startsWith('/torrents/selectFiles/') && torrent !== undefined) {
      torrent.selected = new Set((form.get('files') ?? '').split(',').map(Number));
      return [204, undefined];
    }
    if (path.startsWith('/torrents/delete/') && method === 'DELETE')
      return torrents.delete(id) ? [204, undefined] : [404, { error: 'unknown_ressource', error_code: 7 }];
    if (path === '/unrestrict/link') {
      const link = form.get('link') ?? '';
      return [
        200,
        {
          id: 'x',
          filename: 'f',
          link,
          download: link.replace('https://real-debrid.example/d/', 'https://direct.example/rd/'),
        },
      ];
    }
    return [404, { error: 'unknown_ressource', error_code: 7 }];
  });
}

/** TorBox as documented: it reports availability. */
export async function openTorBox(key = 'TBKEY'): Promise<FakeStore> {
  const torrents = new Map<number, string>([[5, hashes.library]]);
  const ok = (data: unknown): StoreReply => [200, { success: true, data, detail: '', error: null }];
  const toItem = ([id, hash]: readonly [number, string]) => {
    const ready = hash !== hashes.uncached;
    return {
      ...{ id, hash, name: 'The.Movie.2019', size: 5_020_000_000, progress: ready ? 1 : 0.1 },
      ...{ download_state: ready ? 'cached' : 'downloading', download_finished: ready, download_present: ready },
      files: movieFiles.map(({ path, size }, index) => ({ id: index, name: path, short_name: path, size })),
    };
  };
  return await openFakeStore(({ path, query, headers, body }) => {
    if (headers.authorization?.startsWith(`Bearer ${key}`) !== true)
      return [403, { success: false, data: null, detail: 'Bad token', error: 'BAD_TOKEN' }];
    if (path === '/user/me')
      return ok({ id: 1, email: 'ada@example.org', plan: 2, premium_expires_at: '2030-01-01T00:00:00Z' });
    if (path === '/torrents/checkcached') {
      const { hashes: requestedHashes } = JSON.parse(body) as { hashes: string[] };
      const has = requestedHashes.filter((hash) => hash === hashes.cached);
      const files = movieFiles.map(({ path: name, size }) => ({ name, size }));
      return ok(
        has.length === 0 ? null : has.map((hash) => ({ name: 'The.Movie.2019', hash, size: 5_020_000_000, files })),
      );
    }
    if (path === '/torrents/createtorrent') {
      const id = torrents.size + 10;
      torrents.set(id, toHash(body));
      return ok({ torrent_id: id, hash: toHash(body), auth_id: 'a' });
    }
    if (path === '/torrents/mylist') {
      const id = query.get('id');
      if (id === null) return ok([...torrents].map(toItem));
      const hash = torrents.get(Number(id));
      return hash === undefined
        ? [404, { success: false, data: null, detail: '', error: 'ITEM_NOT_FOUND' }]
        : ok(toItem([Number(id), hash]));
    }
    if (path === '/torrents/requestdl')
      return ok(`https://direct.example/tb/${query.get('torrent_id') ?? ''}-${query.get('file_id') ?? ''}`);
    if (path === '/torrents/controltorrent') return ok(null);
    return [404, { success: false, data: null, detail: 'Not Found', error: 'ITEM_NOT_FOUND' }];
  });
}
