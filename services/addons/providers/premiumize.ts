import * as m from '#messages/addons-problems';
import { findOwn } from '../../contracts/find-own.ts';
import {
  createMalformedError,
  toNumber,
  toRecords,
  toText,
  toTimestamp,
  createRateLimitError,
  type ProviderHttpClient,
  type ProviderReply,
} from './provider-http-client.ts';
import { ProviderError } from '../domain/provider-error.ts';
import {
  buildMagnetUri,
  type AvailableTorrents,
  type Magnet,
  type Provider,
  type ProviderFile,
  type ProviderTorrent,
  type TorrentState,
} from './provider.ts';
import { toRecord } from '../../contracts/is-record.ts';

const batchSize = 100;
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
const directPrefix = 'direct:';

/** Client of Premiumize. It reports availability, and returns the files of available torrents without a transfer. */
export class Premiumize implements Provider {
  readonly #httpClient: ProviderHttpClient;
  readonly #key: string;

  constructor(httpClient: ProviderHttpClient, { apiKey = '' }: Readonly<Record<string, string>>) {
    this.#httpClient = httpClient;
    this.#key = apiKey;
  }

  async user() {
    const info = await this.#request('/account/info');
    const until = toTimestamp(info['premium_until']);
    return {
      name: toText(info['customer_id']),
      plan: until === undefined ? ('expired' as const) : ('premium' as const),
      until,
    };
  }

  async checkAvailability(hashes: readonly string[]): Promise<AvailableTorrents> {
    const available = new Map<string, { path: string; size: number }[]>();
    for (let batchStart = 0; batchStart < hashes.length; batchStart += batchSize) {
      const batchHashes = hashes.slice(batchStart, batchStart + batchSize);
      const { response, filename, filesize } = await this.#request(
        '/cache/check',
        batchHashes.map((hash) => ['items[]', hash] as const),
      );
      if (!Array.isArray(response)) throw createMalformedError(this.#httpClient.service.name);
      const [names, sizes] = [filename, filesize].map((list) => (Array.isArray(list) ? (list as unknown[]) : []));
      for (const [hashIndex, hash] of batchHashes.entries()) {
        if (response[hashIndex] !== true) continue;
        const path = toText(names?.[hashIndex]);
        // The only name is usually the one of a folder, without information about the file.
        available.set(hash, path === '' ? [] : [{ path, size: toNumber(sizes?.[hashIndex]) ?? 0 }]);
      }
    }
    return available;
  }

  async library(): Promise<readonly ProviderTorrent[]> {
    return toRecords((await this.#request('/transfer/list'))['transfers']).map((transfer) => toTorrent(transfer));
  }

  async torrent(id: string): Promise<ProviderTorrent> {
    if (id.startsWith(directPrefix)) return await this.#fetchDirect(id.slice(directPrefix.length), '');
    const transfer = toRecords((await this.#request('/transfer/list'))['transfers']).find(
      (transferItem) => transferItem['id'] === id,
    );
    if (transfer === undefined) throw new ProviderError('NOT_FOUND', () => m.notFound({ name: 'Premiumize' }));
    const torrent = toTorrent(transfer);
    if (torrent.state !== 'ready') return torrent;
    const [folder, file] = [toText(transfer['folder_id']), toText(transfer['file_id'])];
    if (file !== '')
      return {
        ...torrent,
        files: [toFile(toRecord(await this.#request(`/item/details?id=${encodeURIComponent(file)}`)), '')],
      };
    return { ...torrent, files: await this.#listFolder(folder, '', 0) };
  }

  async add(magnet: Magnet): Promise<ProviderTorrent> {
    try {
      return await this.#fetchDirect(magnet.hash, magnet.name);
    } catch (error) {
      if (!(error instanceof ProviderError) || error.code !== 'NOT_FOUND') throw error;
    }
    const created = await this.#request('/transfer/create', [['src', buildMagnetUri(magnet)]]);
    const id = toText(created['id']);
    if (id === '') throw createMalformedError(this.#httpClient.service.name);
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
    if (file.link === undefined || file.link === '') throw createMalformedError(this.#httpClient.service.name);
    return file.link;
  }

  async remove(id: string): Promise<void> {
    if (!id.startsWith(directPrefix)) await this.#request('/transfer/delete', [['id', id]]);
  }

  async #fetchDirect(hash: string, name: string): Promise<ProviderTorrent> {
    const { content } = await this.#request('/transfer/directdl', [
      ['src', buildMagnetUri({ hash, name, trackers: [] })],
    ]);
    const files = toRecords(content).map((file): ProviderFile => ({
      id: toText(file['path']),
      path: toText(file['path']),
      size: toNumber(file['size']) ?? 0,
      index: undefined,
      link: toText(file['link']),
    }));
    return {
      id: `${directPrefix}${hash}`,
      hash,
      name,
      size: undefined,
      state: 'ready',
      progress: 1,
      files,
      addedAt: undefined,
    };
  }

  async #listFolder(id: string, path: string, depth: number): Promise<readonly ProviderFile[]> {
    const items = toRecords((await this.#request(`/folder/list?id=${encodeURIComponent(id)}`))['content']);
    const files: ProviderFile[] = [];
    for (const item of items) {
      if (item['type'] !== 'folder') files.push(toFile(item, path));
      else if (depth < 3)
        files.push(...(await this.#listFolder(toText(item['id']), `${path}${toText(item['name'])}/`, depth + 1)));
    }
    return files;
  }

  async #request(
    path: string,
    form?: readonly (readonly [string, string])[],
  ): Promise<Readonly<Record<string, unknown>>> {
    const query = `${path.includes('?') ? '&' : '?'}apikey=${encodeURIComponent(this.#key)}`;
    const reply = await this.#httpClient.send(
      { path: `${path}${query}`, ...(form === undefined ? {} : { method: 'POST', form }) },
      findError,
    );
    return toRecord(reply.json);
  }
}

/** Reads the error of a response. Premiumize always sends status 200 with an error message. */
function findError({ json }: ProviderReply): ProviderError | undefined {
  const { status, message } = toRecord(json);
  if (status !== 'error') return undefined;
  const text = toText(message);
  const reason = { reason: text.slice(0, 100) };
  if (/api ?key|not logged in|auth|customer_id/i.test(text))
    return new ProviderError('UNAUTHORIZED', () => m.keyRejected({ name: 'Premiumize' }), reason);
  if (/premium|upgrade|subscription/i.test(text))
    return new ProviderError('PAYMENT_REQUIRED', () => m.paidPlanRequired({ name: 'Premiumize' }), reason);
  if (/fair use|points|limit|space/i.test(text))
    return new ProviderError('STORE_LIMIT_EXCEEDED', () => m.accountLimitReached({ name: 'Premiumize' }), reason);
  if (/too many requests|slow down/i.test(text)) return createRateLimitError('Premiumize');
  if (/already/i.test(text))
    return new ProviderError('CONFLICT', () => m.alreadyExists({ name: 'Premiumize' }), reason);
  if (/not (?:found|cached)|no such|content not|cannot be (?:found|downloaded)/i.test(text))
    return new ProviderError('NOT_FOUND', () => m.notFound({ name: 'Premiumize' }), reason);
  if (/magnet|torrent|link|src/i.test(text))
    return new ProviderError('STORE_MAGNET_INVALID', () => m.torrentInvalid({ name: 'Premiumize' }), reason);
  return new ProviderError(
    'UNKNOWN',
    () => m.providerError({ name: 'Premiumize', message: text.slice(0, 200) }),
    reason,
  );
}

function toFile(item: Readonly<Record<string, unknown>>, folder: string): ProviderFile {
  return {
    id: toText(item['id']),
    path: `${folder}${toText(item['name'])}`,
    size: toNumber(item['size']) ?? 0,
    index: undefined,
    link: toText(item['link']),
  };
}

function toTorrent(transfer: Readonly<Record<string, unknown>>): ProviderTorrent {
  const state = findOwn(states, toText(transfer['status'])) ?? 'queued';
  const hash = /btih:([0-9a-f]{40})/i.exec(toText(transfer['src']))?.[1]?.toLowerCase();
  return {
    id: toText(transfer['id']),
    hash,
    name: toText(transfer['name']),
    size: undefined,
    state,
    progress: toNumber(transfer['progress']) ?? 0,
    files: state === 'downloading' ? [] : undefined,
    addedAt: undefined,
  };
}
