import { randomUUID } from 'node:crypto';
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
  type ProviderRequest,
} from './provider-http-client.ts';
import {
  magnetUri,
  ProviderError,
  type CachedTorrents,
  type Magnet,
  type Provider,
  type ProviderErrorCode,
  type ProviderFile,
  type ProviderTorrent,
} from './provider.ts';

const codes: Readonly<Record<string, readonly [ProviderErrorCode, string]>> = {
  BAD_TOKEN: ['UNAUTHORIZED', 'does not accept this key. Put in a valid one'],
  NO_AUTH: ['UNAUTHORIZED', 'does not accept this key. Put in a valid one'],
  AUTH_ERROR: ['UNAUTHORIZED', 'does not accept this key. Put in a valid one'],
  PLAN_RESTRICTED_FEATURE: ['PAYMENT_REQUIRED', 'wants a larger plan for this'],
  MONTHLY_LIMIT: ['STORE_LIMIT_EXCEEDED', 'has nothing left of your month'],
  COOLDOWN_LIMIT: ['TOO_MANY_REQUESTS', 'asks you to wait'],
  ACTIVE_LIMIT: ['STORE_LIMIT_EXCEEDED', 'has too many torrents of yours at work. Remove one'],
  DUPLICATE_ITEM: ['CONFLICT', 'has this torrent already'],
  DIFF_ISSUE: ['CONFLICT', 'is still at work on this'],
  DOWNLOAD_TOO_LARGE: ['STORE_LIMIT_EXCEEDED', 'finds this torrent too large for your plan'],
  BOZO_TORRENT: ['STORE_MAGNET_INVALID', 'does not understand this torrent'],
  BOZO_NZB: ['STORE_MAGNET_INVALID', 'does not understand this file'],
  MISSING_REQUIRED_OPTION: ['STORE_MAGNET_INVALID', 'misses something in the request'],
  ITEM_NOT_FOUND: ['NOT_FOUND', 'does not know this'],
  NO_SERVERS_AVAILABLE_ERROR: ['SERVICE_UNAVAILABLE', 'has no server free'],
  DATABASE_ERROR: ['SERVICE_UNAVAILABLE', 'has trouble of its own'],
  LINK_OFFLINE: ['NOT_FOUND', 'has lost this file'],
  VENDOR_DISABLED: ['SERVICE_UNAVAILABLE', 'has switched this off'],
};

/** Client of TorBox. It reports availability. */
export class TorBox implements Provider {
  readonly #caller: ProviderCaller;
  readonly #key: string;

  constructor(caller: ProviderCaller, { apiKey = '' }: Readonly<Record<string, string>>) {
    this.#caller = caller;
    this.#key = apiKey;
  }

  async user() {
    const user = record(await this.#data({ path: '/user/me?settings=false' }));
    const plan = numberOf(user['plan']) ?? 0;
    return {
      name: textOf(user['email']),
      plan: plan > 0 ? ('premium' as const) : ('expired' as const),
      until: timeOf(user['premium_expires_at']),
    };
  }

  async check(hashes: readonly string[]): Promise<CachedTorrents> {
    const data = await this.#data({
      method: 'POST',
      path: '/torrents/checkcached?format=list&list_files=true',
      json: { hashes },
    });
    const found = new Map<string, { path: string; size: number }[]>();
    // The response is null when nothing is available, and can also be an object by hash.
    const list = Array.isArray(data) ? records(data) : Object.values(record(data)).map(record);
    for (const item of list)
      found.set(
        textOf(item['hash']).toLowerCase(),
        records(item['files']).map((file) => ({ path: textOf(file['name']), size: numberOf(file['size']) ?? 0 })),
      );
    return found;
  }

  async library(): Promise<readonly ProviderTorrent[]> {
    return records(await this.#data({ path: '/torrents/mylist?bypass_cache=true' })).map(toTorrent);
  }

  async torrent(id: string): Promise<ProviderTorrent> {
    const data = await this.#data({ path: `/torrents/mylist?id=${encodeURIComponent(id)}&bypass_cache=true` });
    return toTorrent(record(Array.isArray(data) ? data[0] : data));
  }

  async add(magnet: Magnet): Promise<ProviderTorrent> {
    const boundary = `form-${randomUUID()}`;
    const fields = [
      ['magnet', magnetUri(magnet)],
      ['seed', '3'],
      ['allow_zip', 'false'],
    ];
    const parts = fields.map(
      ([name, value]) =>
        `--${boundary}\r\nContent-Disposition: form-data; name="${name ?? ''}"\r\n\r\n${value ?? ''}\r\n`,
    );
    const bytes = `${parts.join('')}--${boundary}--\r\n`;
    const data = record(
      await this.#data({
        method: 'POST',
        path: '/torrents/createtorrent',
        body: { type: `multipart/form-data; boundary=${boundary}`, bytes },
      }),
    );
    const id = textOf(data['torrent_id']);
    if (id === '') throw malformed(this.#caller.service.name);
    return await this.torrent(id);
  }

  async link({ id }: ProviderTorrent, file: ProviderFile, userIp: string | undefined): Promise<string> {
    const query = new URLSearchParams({ token: this.#key, torrent_id: id, file_id: file.id, zip_link: 'false' });
    if (userIp !== undefined) query.set('user_ip', userIp);
    const data = await this.#data({ path: `/torrents/requestdl?${query.toString()}` });
    if (typeof data !== 'string' || data === '') throw malformed(this.#caller.service.name);
    return data;
  }

  async remove(id: string): Promise<void> {
    await this.#data({
      method: 'POST',
      path: '/torrents/controltorrent',
      json: { torrent_id: Number(id), operation: 'delete' },
    });
  }

  async #data(request: ProviderRequest): Promise<unknown> {
    const headers = { authorization: `Bearer ${this.#key}` };
    return record((await this.#caller.call({ ...request, headers }, faultOf)).json)['data'];
  }
}

function faultOf({ status, json, headers }: ProviderReply): ProviderError | undefined {
  const { success, error, detail } = record(json);
  if (success !== false && status < 400) return undefined;
  const code = textOf(error);
  const known = Object.hasOwn(codes, code) ? codes[code] : undefined;
  if (known !== undefined) {
    if (known[0] === 'TOO_MANY_REQUESTS') return tooMany('TorBox', headers['retry-after'] ?? '60');
    return new ProviderError(known[0], `TorBox ${known[1]}.`, { reason: code });
  }
  return status < 400
    ? new ProviderError('UNKNOWN', `TorBox refused: ${textOf(detail).slice(0, 200)}`, { reason: code })
    : undefined;
}

function toTorrent(item: Readonly<Record<string, unknown>>): ProviderTorrent {
  const state = textOf(item['download_state']).toLowerCase();
  const ready = item['download_finished'] === true && item['download_present'] === true;
  const failed = state.startsWith('failed') || state === 'error' || state.startsWith('stalled (no seeds');
  const files = records(item['files']);
  const hash = textOf(item['hash']).toLowerCase();
  return {
    id: textOf(item['id']),
    hash: hash === '' ? undefined : hash,
    name: textOf(item['name']),
    size: numberOf(item['size']),
    state: ready
      ? 'ready'
      : failed
        ? 'failed'
        : state === 'metadl' || state === 'queued' || state === 'paused'
          ? 'queued'
          : 'downloading',
    progress: numberOf(item['progress']) ?? 0,
    files:
      files.length === 0
        ? undefined
        : files.map((file) => ({
            id: textOf(file['id']),
            path: textOf(file['name']),
            size: numberOf(file['size']) ?? 0,
            index: numberOf(file['id']),
            link: undefined,
          })),
    addedAt: timeOf(item['created_at']),
  };
}
