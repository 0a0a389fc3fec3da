import * as m from '#messages/addons-problems';
import { randomUUID } from 'node:crypto';
import {
  createMalformedError,
  toNumber,
  toRecords,
  toText,
  toTimestamp,
  createRateLimitError,
  type ProviderHttpClient,
  type ProviderReply,
  type ProviderRequest,
} from './provider-http-client.ts';
import { ProviderError, type ProviderErrorCode } from '../domain/provider-error.ts';
import {
  buildMagnetUri,
  type AvailableTorrents,
  type Magnet,
  type Provider,
  type ProviderFile,
  type ProviderTorrent,
} from './provider.ts';
import { toRecord } from '../../contracts/is-record.ts';

const codes: Readonly<Record<string, readonly [ProviderErrorCode, (parameters: { name: string }) => string]>> = {
  BAD_TOKEN: ['UNAUTHORIZED', m.keyRejected],
  NO_AUTH: ['UNAUTHORIZED', m.keyRejected],
  AUTH_ERROR: ['UNAUTHORIZED', m.keyRejected],
  PLAN_RESTRICTED_FEATURE: ['PAYMENT_REQUIRED', m.largerPlanRequired],
  MONTHLY_LIMIT: ['STORE_LIMIT_EXCEEDED', m.monthlyLimitReached],
  COOLDOWN_LIMIT: ['TOO_MANY_REQUESTS', m.waitRequired],
  ACTIVE_LIMIT: ['STORE_LIMIT_EXCEEDED', m.tooManyActiveTorrents],
  DUPLICATE_ITEM: ['CONFLICT', m.torrentExists],
  DIFF_ISSUE: ['CONFLICT', m.inProgress],
  DOWNLOAD_TOO_LARGE: ['STORE_LIMIT_EXCEEDED', m.torrentTooLargeForPlan],
  BOZO_TORRENT: ['STORE_MAGNET_INVALID', m.torrentInvalid],
  BOZO_NZB: ['STORE_MAGNET_INVALID', m.fileInvalid],
  MISSING_REQUIRED_OPTION: ['STORE_MAGNET_INVALID', m.requestIncomplete],
  ITEM_NOT_FOUND: ['NOT_FOUND', m.notFound],
  NO_SERVERS_AVAILABLE_ERROR: ['SERVICE_UNAVAILABLE', m.noServerAvailable],
  DATABASE_ERROR: ['SERVICE_UNAVAILABLE', m.internalError],
  LINK_OFFLINE: ['NOT_FOUND', m.fileLost],
  VENDOR_DISABLED: ['SERVICE_UNAVAILABLE', m.featureDisabled],
};

/** Client of TorBox. It reports availability. */
export class TorBox implements Provider {
  readonly #httpClient: ProviderHttpClient;
  readonly #key: string;

  constructor(httpClient: ProviderHttpClient, { apiKey = '' }: Readonly<Record<string, string>>) {
    this.#httpClient = httpClient;
    this.#key = apiKey;
  }

  async user() {
    const user = toRecord(await this.#request({ path: '/user/me?settings=false' }));
    const plan = toNumber(user['plan']) ?? 0;
    return {
      name: toText(user['email']),
      plan: plan > 0 ? ('premium' as const) : ('expired' as const),
      until: toTimestamp(user['premium_expires_at']),
    };
  }

  async checkAvailability(hashes: readonly string[]): Promise<AvailableTorrents> {
    const data = await this.#request({
      method: 'POST',
      path: '/torrents/checkcached?format=list&list_files=true',
      json: { hashes },
    });
    const available = new Map<string, { path: string; size: number }[]>();
    // The response is null when nothing is available, and can also be an object by hash.
    const list = Array.isArray(data) ? toRecords(data) : Object.values(toRecord(data)).map(toRecord);
    for (const item of list)
      available.set(
        toText(item['hash']).toLowerCase(),
        toRecords(item['files']).map((file) => ({ path: toText(file['name']), size: toNumber(file['size']) ?? 0 })),
      );
    return available;
  }

  async library(): Promise<readonly ProviderTorrent[]> {
    return toRecords(await this.#request({ path: '/torrents/mylist?bypass_cache=true' })).map(toTorrent);
  }

  async torrent(id: string): Promise<ProviderTorrent> {
    const data = await this.#request({ path: `/torrents/mylist?id=${encodeURIComponent(id)}&bypass_cache=true` });
    return toTorrent(toRecord(Array.isArray(data) ? data[0] : data));
  }

  async add(magnet: Magnet): Promise<ProviderTorrent> {
    const boundary = `form-${randomUUID()}`;
    const fields = [
      ['magnet', buildMagnetUri(magnet)],
      ['seed', '3'],
      ['allow_zip', 'false'],
    ];
    const formParts = fields.map(
      ([name, value]) =>
        `--${boundary}\r\nContent-Disposition: form-data; name="${name ?? ''}"\r\n\r\n${value ?? ''}\r\n`,
    );
    const bytes = `${formParts.join('')}--${boundary}--\r\n`;
    const data = toRecord(
      await this.#request({
        method: 'POST',
        path: '/torrents/createtorrent',
        body: { type: `multipart/form-data; boundary=${boundary}`, bytes },
      }),
    );
    const id = toText(data['torrent_id']);
    if (id === '') throw createMalformedError(this.#httpClient.service.name);
    return await this.torrent(id);
  }

  async link({ id }: ProviderTorrent, file: ProviderFile, userIp: string | undefined): Promise<string> {
    const query = new URLSearchParams({ token: this.#key, torrent_id: id, file_id: file.id, zip_link: 'false' });
    if (userIp !== undefined) query.set('user_ip', userIp);
    const data = await this.#request({ path: `/torrents/requestdl?${query.toString()}` });
    if (typeof data !== 'string' || data === '') throw createMalformedError(this.#httpClient.service.name);
    return data;
  }

  async remove(id: string): Promise<void> {
    await this.#request({
      method: 'POST',
      path: '/torrents/controltorrent',
      json: { torrent_id: Number(id), operation: 'delete' },
    });
  }

  async #request(request: ProviderRequest): Promise<unknown> {
    const headers = { authorization: `Bearer ${this.#key}` };
    return toRecord((await this.#httpClient.send({ ...request, headers }, findError)).json)['data'];
  }
}

function findError({ status, json, headers }: ProviderReply): ProviderError | undefined {
  const { success, error, detail } = toRecord(json);
  if (success !== false && status < 400) return undefined;
  const code = toText(error);
  const knownError = Object.hasOwn(codes, code) ? codes[code] : undefined;
  if (knownError !== undefined) {
    if (knownError[0] === 'TOO_MANY_REQUESTS') return createRateLimitError('TorBox', headers['retry-after'] ?? '60');
    return new ProviderError(knownError[0], () => knownError[1]({ name: 'TorBox' }), { reason: code });
  }
  return status < 400
    ? new ProviderError('UNKNOWN', () => m.providerError({ name: 'TorBox', message: toText(detail).slice(0, 200) }), {
        reason: code,
      })
    : undefined;
}

function toTorrent(item: Readonly<Record<string, unknown>>): ProviderTorrent {
  const state = toText(item['download_state']).toLowerCase();
  const isReady = item['download_finished'] === true && item['download_present'] === true;
  const isFailed = state.startsWith('failed') || state === 'error' || state.startsWith('stalled (no seeds');
  const files = toRecords(item['files']);
  const hash = toText(item['hash']).toLowerCase();
  return {
    id: toText(item['id']),
    hash: hash === '' ? undefined : hash,
    name: toText(item['name']),
    size: toNumber(item['size']),
    state: isReady
      ? 'ready'
      : isFailed
        ? 'failed'
        : state === 'metadl' || state === 'queued' || state === 'paused'
          ? 'queued'
          : 'downloading',
    progress: toNumber(item['progress']) ?? 0,
    files:
      files.length === 0
        ? undefined
        : files.map((file) => ({
            id: toText(file['id']),
            path: toText(file['name']),
            size: toNumber(file['size']) ?? 0,
            index: toNumber(file['id']),
            link: undefined,
          })),
    addedAt: toTimestamp(item['created_at']),
  };
}
