import { findOwn } from '../../contracts/find-own.ts';
import {
  malformed,
  numberOf,
  record,
  records,
  textOf,
  timeOf,
  tooMany,
  type ProviderCaller,
  type ProviderReply,
} from './provider-http-client.ts';
import {
  magnetUri,
  ProviderError,
  type CachedTorrents,
  type Magnet,
  type Provider,
  type ProviderFile,
  type ProviderTorrent,
  type TorrentState,
} from './provider.ts';

const batch = 100;
const states: Readonly<Record<string, TorrentState>> = {
  finished: 'ready',
  seeding: 'ready',
  waiting: 'queued',
  queued: 'queued',
  running: 'downloading',
  error: 'failed',
  deleted: 'failed',
  banned: 'failed',
  timeout: 'failed',
};
/** Prefix of the IDs of torrents that are available without a transfer. */
const direct = 'direct:';

/** Client of Premiumize. It reports availability, and returns the files of available torrents without a transfer. */
export class Premiumize implements Provider {
  readonly #caller: ProviderCaller;
  readonly #key: string;

  constructor(caller: ProviderCaller, { apiKey = '' }: Readonly<Record<string, string>>) {
    this.#caller = caller;
    this.#key = apiKey;
  }

  async user() {
    const info = await this.#call('/account/info');
    const until = timeOf(info['premium_until']);
    return {
      name: textOf(info['customer_id']),
      plan: until === undefined ? ('expired' as const) : ('premium' as const),
      until,
    };
  }

  async check(hashes: readonly string[]): Promise<CachedTorrents> {
    const found = new Map<string, { path: string; size: number }[]>();
    for (let at = 0; at < hashes.length; at += batch) {
      const part = hashes.slice(at, at + batch);
      const { response, filename, filesize } = await this.#call(
        '/cache/check',
        part.map((hash) => ['items[]', hash] as const),
      );
      if (!Array.isArray(response)) throw malformed(this.#caller.service.name);
      const [names, sizes] = [filename, filesize].map((list) => (Array.isArray(list) ? (list as unknown[]) : []));
      for (const [place, hash] of part.entries()) {
        if (response[place] !== true) continue;
        const path = textOf(names?.[place]);
        // The only name is usually the one of a folder, without information about the file.
        found.set(hash, path === '' ? [] : [{ path, size: numberOf(sizes?.[place]) ?? 0 }]);
      }
    }
    return found;
  }

  async library(): Promise<readonly ProviderTorrent[]> {
    return records((await this.#call('/transfer/list'))['transfers']).map((transfer) => toTorrent(transfer));
  }

  async torrent(id: string): Promise<ProviderTorrent> {
    if (id.startsWith(direct)) return await this.#direct(id.slice(direct.length), '');
    const transfer = records((await this.#call('/transfer/list'))['transfers']).find((one) => one['id'] === id);
    if (transfer === undefined) throw new ProviderError('NOT_FOUND', 'Premiumize does not know this transfer.');
    const torrent = toTorrent(transfer);
    if (torrent.state !== 'ready') return torrent;
    const [folder, file] = [textOf(transfer['folder_id']), textOf(transfer['file_id'])];
    if (file !== '')
      return {
        ...torrent,
        files: [toFile(record(await this.#call(`/item/details?id=${encodeURIComponent(file)}`)), '')],
      };
    return { ...torrent, files: await this.#folder(folder, '', 0) };
  }

  async add(magnet: Magnet): Promise<ProviderTorrent> {
    try {
      return await this.#direct(magnet.hash, magnet.name);
    } catch (error) {
      if (!(error instanceof ProviderError) || error.code !== 'NOT_FOUND') throw error;
    }
    const created = await this.#call('/transfer/create', [['src', magnetUri(magnet)]]);
    const id = textOf(created['id']);
    if (id === '') throw malformed(this.#caller.service.name);
    return {
      id,
      hash: magnet.hash,
      name: magnet.name,
      size: undefined,
      state: 'downloading',
      progress: 0,
      files: [],
      addedAt: undefined,
    };
  }

  async link(_torrent: ProviderTorrent, file: ProviderFile): Promise<string> {
    if (file.link === undefined || file.link === '') throw malformed(this.#caller.service.name);
    return file.link;
  }

  async remove(id: string): Promise<void> {
    if (!id.startsWith(direct)) await this.#call('/transfer/delete', [['id', id]]);
  }

  async #direct(hash: string, name: string): Promise<ProviderTorrent> {
    const { content } = await this.#call('/transfer/directdl', [['src', magnetUri({ hash, name, trackers: [] })]]);
    const files = records(content).map((file): ProviderFile => ({
      id: textOf(file['path']),
      path: textOf(file['path']),
      size: numberOf(file['size']) ?? 0,
      index: undefined,
      link: textOf(file['link']),
    }));
    return {
      id: `${direct}${hash}`,
      hash,
      name,
      size: undefined,
      state: 'ready',
      progress: 1,
      files,
      addedAt: undefined,
    };
  }

  async #folder(id: string, path: string, depth: number): Promise<readonly ProviderFile[]> {
    const items = records((await this.#call(`/folder/list?id=${encodeURIComponent(id)}`))['content']);
    const files: ProviderFile[] = [];
    for (const item of items) {
      if (item['type'] !== 'folder') files.push(toFile(item, path));
      else if (depth < 3)
        files.push(...(await this.#folder(textOf(item['id']), `${path}${textOf(item['name'])}/`, depth + 1)));
    }
    return files;
  }

  async #call(path: string, form?: readonly (readonly [string, string])[]): Promise<Readonly<Record<string, unknown>>> {
    const query = `${path.includes('?') ? '&' : '?'}apikey=${encodeURIComponent(this.#key)}`;
    const reply = await this.#caller.call(
      { path: `${path}${query}`, ...(form === undefined ? {} : { method: 'POST', form }) },
      faultOf,
    );
    return record(reply.json);
  }
}

/** Reads the error of a response. Premiumize always sends status 200 with an error message. */
function faultOf({ json }: ProviderReply): ProviderError | undefined {
  const { status, message } = record(json);
  if (status !== 'error') return undefined;
  const text = textOf(message);
  const reason = { reason: text.slice(0, 100) };
  if (/api ?key|not logged in|auth|customer_id/i.test(text))
    return new ProviderError('UNAUTHORIZED', 'Premiumize does not accept this key. Put in a valid one.', reason);
  if (/premium|upgrade|subscription/i.test(text))
    return new ProviderError('PAYMENT_REQUIRED', 'Premiumize wants a paid account for this.', reason);
  if (/fair use|points|limit|space/i.test(text))
    return new ProviderError('STORE_LIMIT_EXCEEDED', 'Premiumize says that your account is at its limit.', reason);
  if (/too many requests|slow down/i.test(text)) return tooMany('Premiumize');
  if (/already/i.test(text)) return new ProviderError('CONFLICT', 'Premiumize has this already.', reason);
  if (/not (?:found|cached)|no such|content not|cannot be (?:found|downloaded)/i.test(text))
    return new ProviderError('NOT_FOUND', 'Premiumize does not have this.', reason);
  if (/magnet|torrent|link|src/i.test(text))
    return new ProviderError('STORE_MAGNET_INVALID', 'Premiumize does not understand this torrent.', reason);
  return new ProviderError('UNKNOWN', `Premiumize refused: ${text.slice(0, 200)}`, reason);
}

function toFile(item: Readonly<Record<string, unknown>>, folder: string): ProviderFile {
  return {
    id: textOf(item['id']),
    path: `${folder}${textOf(item['name'])}`,
    size: numberOf(item['size']) ?? 0,
    index: undefined,
    link: textOf(item['link']),
  };
}

function toTorrent(transfer: Readonly<Record<string, unknown>>): ProviderTorrent {
  const state = findOwn(states, textOf(transfer['status'])) ?? 'queued';
  const hash = /btih:([0-9a-f]{40})/i.exec(textOf(transfer['src']))?.[1]?.toLowerCase();
  return {
    id: textOf(transfer['id']),
    hash,
    name: textOf(transfer['name']),
    size: undefined,
    state,
    progress: numberOf(transfer['progress']) ?? 0,
    files: state === 'downloading' ? [] : undefined,
    addedAt: undefined,
  };
}
