import { hashes, movieFiles, openFakeStore, type FakeStore, type StoreReply } from './fake-stores.ts';

const toHash = (text: string): string =>
  /btih:([0-9a-f]{40})/i.exec(decodeURIComponent(text))?.[1]?.toLowerCase() ?? '';
const isReady = (hash: string): boolean => hash !== hashes.uncached;
const names = movieFiles.map(({ path, size }) => ({
  folder: 'The.Movie.2019',
  name: path.replace('The.Movie.2019/', ''),
  path,
  size,
}));

/** AllDebrid: an envelope, errors with status 200, a tree of files, and delayed links. */
export async function openAllDebrid(key = 'ADKEY'): Promise<FakeStore> {
  const magnets = new Map<string, string>([['1', hashes.library]]);
  const ok = (data: unknown): StoreReply => [200, { status: 'success', data }];
  const toItem = ([id, hash]: readonly [string, string]) => ({
    id: Number(id),
    filename: 'The.Movie.2019',
    size: 100,
    downloaded: 10,
    hash,
    status: '',
    statusCode: isReady(hash) ? 4 : 1,
  });
  let requestCount = 0;
  return await openFakeStore(({ path, query, headers, body }) => {
    if (headers.authorization?.startsWith(`Bearer ${key}`) !== true || query.get('agent') === null)
      return [200, { status: 'error', error: { code: 'AUTH_BAD_APIKEY', message: 'The auth apikey is invalid' } }];
    const form = new URLSearchParams(body);
    if (path === '/v4/user')
      return ok({ user: { username: 'ada', isPremium: true, isTrial: false, premiumUntil: 1_900_000_000 } });
    if (path === '/v4/magnet/upload') {
      const hash = toHash(form.get('magnets[]') ?? '');
      const id = String(magnets.size + 10);
      magnets.set(id, hash);
      return ok({
        magnets: [{ magnet: '', hash, name: 'The.Movie.2019', size: 100, ready: isReady(hash), id: Number(id) }],
      });
    }
    if (path === '/v4.1/magnet/status') {
      const id = form.get('id');
      return ok({ magnets: id === null ? [...magnets].map(toItem) : toItem([id, magnets.get(id) ?? '']) });
    }
    if (path === '/v4/magnet/files')
      return ok({
        magnets: [
          {
            id: form.get('id[]'),
            files: [
              {
                n: 'The.Movie.2019',
                e: names.map(({ name, size }, index) => ({
                  n: name,
                  s: size,
                  l: `https://alldebrid.example/f/${String(index)}`,
                })),
              },
            ],
          },
        ],
      });
    if (path === '/v4/link/unlock') return ok({ link: '', filename: 'f', delayed: 77, id: form.get('link') });
    if (path === '/v4/link/delayed') {
      requestCount += 1;
      return ok(
        requestCount % 2 === 1 ? { status: 1, time_left: 1 } : { status: 2, link: 'https://direct.example/ad/1' },
      );
    }
    return path === '/v4/magnet/delete'
      ? ok({ message: 'ok' })
      : [404, { status: 'error', error: { code: '404', message: 'no' } }];
  });
}

/** Premiumize: status 200 with error messages, and files without a transfer. */
export async function openPremiumize(key = 'PMKEY'): Promise<FakeStore> {
  const wrong = (message: string): StoreReply => [200, { status: 'error', message }];
  return await openFakeStore(({ path, query, body }) => {
    if (query.get('apikey')?.startsWith(key) !== true) return wrong('Not logged in. Wrong API key.');
    const form = new URLSearchParams(body);
    if (path === '/account/info')
      return [200, { status: 'success', customer_id: '123', premium_until: 1_900_000_000, limit_used: 0.1 }];
    if (path === '/cache/check') {
      const requestedHashes = form.getAll('items[]');
      const has = requestedHashes.map((hash) => hash === hashes.cached);
      return [
        200,
        {
          status: 'success',
          response: has,
          transcoded: has,
          filename: requestedHashes.map(() => 'The.Movie.2019'),
          filesize: requestedHashes.map(() => '5020000000'),
        },
      ];
    }
    const hash = toHash(form.get('src') ?? '');
    if (path === '/transfer/directdl')
      return isReady(hash)
        ? [
            200,
            {
              status: 'success',
              content: names.map((file, index) => ({
                path: file.path,
                size: file.size,
                link: `https://direct.example/pm/${String(index)}`,
                stream_link: null,
              })),
            },
          ]
        : wrong('Content not found in cache.');
    if (path === '/transfer/create') return [200, { status: 'success', id: 'X1', name: 'n', type: 'torrent' }];
    if (path === '/transfer/list')
      return [
        200,
        {
          status: 'success',
          transfers: [
            { id: 'X1', name: 'n', status: 'running', progress: 0.1, src: `magnet:?xt=urn:btih:${hashes.uncached}` },
            {
              id: 'L1',
              name: 'The.Movie.2019',
              status: 'finished',
              progress: 1,
              src: `magnet:?xt=urn:btih:${hashes.library}`,
              folder_id: 'F1',
              file_id: null,
            },
          ],
        },
      ];
    if (path === '/folder/list')
      return [
        200,
        {
          status: 'success',
          content: names.slice(1).map((file) => ({
            id: 'i',
            name: file.name,
            type: 'file',
            size: file.size,
            link: 'https://direct.example/pm/lib',
          })),
        },
      ];
    return wrong('Unknown endpoint');
  });
}

/** Debrid-Link: direct links in the list. */
export async function openDebridLink(key = 'DLKEY'): Promise<FakeStore> {
  const torrents = new Map<string, string>([['L1', hashes.library]]);
  const ok = (value: unknown): StoreReply => [200, { success: true, value }];
  const toItem = ([id, hash]: readonly [string, string]) => ({
    ...{
      id,
      name: 'The.Movie.2019',
      hashString: hash,
      totalSize: 100,
      downloadPercent: isReady(hash) ? 100 : 7,
      created: 1_700_000_000,
    },
    files: names.map(({ name, size }, index) => ({
      id: `${id}-${String(index)}`,
      name,
      size,
      downloadPercent: 100,
      downloadUrl: `https://direct.example/dl/${id}-${String(index)}`,
    })),
  });
  return await openFakeStore(({ path, query, headers, body, method }) => {
    if (headers.authorization?.startsWith(`Bearer ${key}`) !== true)
      return [401, { success: false, error: 'badToken' }];
    if (path === '/account/infos') return ok({ username: 'ada', accountType: 1, premiumLeft: 100_000 });
    if (path === '/seedbox/list') {
      const ids = query.get('ids');
      return ok([...torrents].filter(([id]) => ids === null || ids === id).map(toItem));
    }
    if (path === '/seedbox/add') {
      const id = `T${String(torrents.size)}`;
      torrents.set(id, toHash((JSON.parse(body) as { url: string }).url));
      return ok(toItem([id, torrents.get(id) ?? '']));
    }
    return method === 'DELETE' ? ok([]) : [404, { success: false, error: 'fileNotFound' }];
  });
}

/** put.io: transfers, folders, and an address for each file. */
export async function openPutIo(token = 'PUTTOKEN'): Promise<FakeStore> {
  const transfers = new Map<number, string>([[1, hashes.library]]);
  const toItem = ([id, hash]: readonly [number, string]) => ({
    id,
    name: 'The.Movie.2019',
    hash,
    status: isReady(hash) ? 'COMPLETED' : 'DOWNLOADING',
    percent_done: isReady(hash) ? 100 : 5,
    file_id: isReady(hash) ? 900 : null,
    size: 100,
  });
  return await openFakeStore(({ path, query, headers, body }) => {
    if (headers.authorization?.startsWith(`Bearer ${token}`) !== true)
      return [401, { status: 'ERROR', status_code: 401, error_type: 'invalid_grant', error_message: 'no' }];
    if (path === '/account/info')
      return [
        200,
        {
          status: 'OK',
          info: { user_id: 1, username: 'ada', mail: 'a@b', plan_expiration_date: '2030-01-01T00:00:00' },
        },
      ];
    if (path === '/transfers/list') return [200, { status: 'OK', transfers: [...transfers].map(toItem) }];
    if (path === '/transfers/add') {
      const hash = toHash(new URLSearchParams(body).get('url') ?? '');
      if ([...transfers.values()].includes(hash))
        return [400, { status: 'ERROR', status_code: 400, error_type: 'Alreadyadded', error_message: 'already' }];
      const id = transfers.size + 1;
      transfers.set(id, hash);
      return [200, { status: 'OK', transfer: toItem([id, hash]) }];
    }
    const id = Number(/^\/transfers\/(\d+)$/.exec(path)?.[1]);
    const hash = transfers.get(id);
    if (hash !== undefined) return [200, { status: 'OK', transfer: toItem([id, hash]) }];
    if (path === '/files/list') {
      const root = query.get('parent_id') === '900';
      const files = root
        ? [{ id: 901, name: 'The.Movie.2019', content_type: 'application/x-directory' }]
        : names.map(({ name, size }, index) => ({ id: 910 + index, name, size, content_type: 'video/x-matroska' }));
      return [200, { status: 'OK', parent: { id: 900, content_type: 'application/x-directory' }, files }];
    }
    const file = /^\/files\/(\d+)\/url$/.exec(path)?.[1];
    if (file !== undefined) return [200, { status: 'OK', url: `https://direct.example/put/${file}` }];
    return [404, { status: 'ERROR', status_code: 404, error_type: 'NotFound', error_message: 'no' }];
  });
}

/** PikPak: a captcha before each action, an expiring session, and the drive. One server replaces both hosts. */
export async function openPikPak(): Promise<FakeStore> {
  const tasks = new Map<string, string>([['L1', hashes.library]]);
  let signIns = 0;
  let ended = false;
  return await openFakeStore(({ path, query, headers, body }) => {
    if (path === '/v1/shield/captcha/init') return [200, { captcha_token: 'C', expires_in: 300 }];
    if (path === '/v1/auth/signin') {
      const form = new URLSearchParams(body);
      if (form.get('password') !== 'secret' || form.get('captcha_token') !== 'C' || form.get('client_id') !== 'CLIENT')
        return [400, { error: 'invalid_account_or_password', error_code: 4022 }];
      signIns += 1;
      return [200, { access_token: `A${String(signIns)}`, refresh_token: 'R', expires_in: 7200, sub: 'U' }];
    }
    if (path === '/v1/auth/token') return [400, { error: 'invalid_grant', error_code: 4126 }];
    if (headers['x-captcha-token'] !== 'C' || headers['x-device-id'] === undefined)
      return [400, { error: 'captcha_invalid', error_code: 9 }];
    if (headers.authorization?.startsWith('Bearer A') !== true)
      return [401, { error: 'unauthenticated', error_code: 16 }];
    if (path === '/vip/v1/vip/info') {
      // The first session expires immediately; the client renews it.
      if (!ended) {
        ended = true;
        return [401, { error: 'unauthenticated', error_code: 16 }];
      }
      return [200, { data: { type: 'platinum', expire: '2030-01-01T00:00:00Z', status: 'ok' } }];
    }
    const task = ([id, hash]: readonly [string, string]) => ({
      id: `t${id}`,
      file_id: id,
      name: 'The.Movie.2019',
      phase: isReady(hash) ? 'PHASE_TYPE_COMPLETE' : 'PHASE_TYPE_RUNNING',
      progress: 5,
      params: { url: `magnet:?xt=urn:btih:${hash}` },
    });
    if (path === '/drive/v1/tasks') return [200, { tasks: [...tasks].map(task) }];
    if (path === '/drive/v1/files' && body !== '') {
      const id = `T${String(tasks.size)}`;
      tasks.set(id, toHash((JSON.parse(body) as { url: { url: string } }).url.url));
      return [200, { task: task([id, tasks.get(id) ?? '']) }];
    }
    if (path === '/drive/v1/files' && query.get('parent_id') !== null)
      return [
        200,
        {
          files: names.map(({ name, size }, index) => ({
            id: `f${String(index)}`,
            kind: 'drive#file',
            name,
            size: String(size),
          })),
          next_page_token: '',
        },
      ];
    const id = /^\/drive\/v1\/files\/(.+)$/.exec(path)?.[1] ?? '';
    if (id.startsWith('f'))
      return [
        200,
        {
          id,
          kind: 'drive#file',
          name: 'n',
          size: '1',
          web_content_link: '',
          medias: [{ is_origin: true, link: { url: `https://direct.example/pp/${id}`, expire: '' } }],
        },
      ];
    const hash = tasks.get(id);
    return hash === undefined
      ? [404, { error: 'not_found', error_code: 5 }]
      : [200, { id, kind: 'drive#folder', name: 'The.Movie.2019', params: { url: `magnet:?xt=urn:btih:${hash}` } }];
  });
}

/** Easynews: a search, and files with the same authorization. */
export async function openEasynews(): Promise<FakeStore> {
  let first = true;
  const store: FakeStore = await openFakeStore(({ path, headers, query }) => {
    if (headers.authorization !== `Basic ${Buffer.from('ada:news').toString('base64')}`) return [401, ''];
    if (path.startsWith('/dl/')) return [200, 'the film', { 'content-type': 'video/x-matroska' }];
    if (path !== '/2.0/search/solr-search/' || query.get('fty[]') !== 'VIDEO') return [404, ''];
    if (first) {
      first = false;
      return [200, ''];
    }
    const item = (fn: string, overrides: object = {}): object => ({
      0: `hash${fn.length}`,
      id: 's',
      fn,
      extension: '.mkv',
      rawSize: 4_000_000_000,
      runtime: '1h:52m:3s',
      ts: 1_700_000_000,
      ...overrides,
    });
    return [
      200,
      {
        data: [
          item('The.Movie.2019.1080p.WEB-DL.x264-NEWS'),
          item('The.Movie.2019.sample'),
          item('short', { runtime: '20s' }),
          item('page', { extension: '.html' }),
        ],
        results: 4,
        downURL: `${store.url}/dl`,
        dlFarm: 'farm',
        dlPort: '443',
      },
    ];
  });
  return store;
}
