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
import { ProviderError, type ProviderErrorCode } from '../domain/provider-error.ts';
import {
  buildMagnetUri,
  type Magnet,
  type Provider,
  type ProviderFile,
  type ProviderTorrent,
  type TorrentState,
} from './provider.ts';
import { toRecord } from '../../contracts/is-record.ts';

const codes: Readonly<Record<string, readonly [ProviderErrorCode, string]>> = {
  AUTH_MISSING_APIKEY: ['UNAUTHORIZED', 'does not accept this key. Put in a valid one'],
  AUTH_BAD_APIKEY: ['UNAUTHORIZED', 'does not accept this key. Put in a valid one'],
  AUTH_BLOCKED: ['FORBIDDEN', 'does not serve this IP address; a mail of theirs says how to allow it'],
  AUTH_USER_BANNED: ['FORBIDDEN', 'has locked this account'],
  NO_SERVER: ['FORBIDDEN', 'does not serve addresses of data centres'],
  MUST_BE_PREMIUM: ['PAYMENT_REQUIRED', 'wants a paid account for this'],
  MAGNET_MUST_BE_PREMIUM: ['PAYMENT_REQUIRED', 'wants a paid account for this'],
  FREE_TRIAL_LIMIT_REACHED: ['PAYMENT_REQUIRED', 'has nothing left of your trial'],
  MAGNET_INVALID_ID: ['NOT_FOUND', 'does not know this torrent'],
  MAGNET_INVALID_URI: ['STORE_MAGNET_INVALID', 'does not understand this torrent'],
  MAGNET_NO_URI: ['STORE_MAGNET_INVALID', 'does not understand this torrent'],
  MAGNET_TOO_MANY_ACTIVE: ['STORE_LIMIT_EXCEEDED', 'has too many torrents of yours at work. Remove one'],
  MAGNET_TOO_MANY: ['STORE_LIMIT_EXCEEDED', 'has too many torrents of yours. Remove one'],
  MAGNET_PROCESSING: ['CONFLICT', 'is still at work on this torrent'],
  LINK_DOWN: ['NOT_FOUND', 'has lost this file'],
  LINK_HOST_NOT_SUPPORTED: ['NOT_FOUND', 'does not serve this source'],
  LINK_HOST_LIMIT_REACHED: ['STORE_LIMIT_EXCEEDED', 'has no traffic left for you'],
  MAINTENANCE: ['SERVICE_UNAVAILABLE', 'is under maintenance'],
  '404': ['NOT_FOUND', 'does not know this'],
};
const readyStatusCode = 4;
const maxDelayedPolls = 10;
const pollIntervalMs = 1000;

/** Client of AllDebrid. The service reports the availability of a torrent when it is added. */
export class AllDebrid implements Provider {
  readonly #httpClient: ProviderHttpClient;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(httpClient: ProviderHttpClient, { apiKey = '' }: Readonly<Record<string, string>>) {
    this.#httpClient = httpClient;
    this.#headers = { authorization: `Bearer ${apiKey}` };
  }

  async user() {
    const user = toRecord((await this.#request('/v4/user'))['user']);
    const plan =
      user['isTrial'] === true
        ? ('trial' as const)
        : user['isPremium'] === true
          ? ('premium' as const)
          : ('expired' as const);
    return { name: toText(user['username']), plan, until: toTimestamp(user['premiumUntil']) };
  }

  async library(): Promise<readonly ProviderTorrent[]> {
    const { magnets } = await this.#request('/v4.1/magnet/status');
    return (Array.isArray(magnets) ? toRecords(magnets) : Object.values(toRecord(magnets)).map(toRecord)).map(
      (magnet) => toTorrent(magnet),
    );
  }

  async torrent(id: string): Promise<ProviderTorrent> {
    const { magnets } = await this.#request('/v4.1/magnet/status', [['id', id]]);
    const torrent = toTorrent(toRecord(Array.isArray(magnets) ? magnets[0] : magnets));
    if (torrent.state !== 'ready') return torrent;
    const magnetFiles = toRecords((await this.#request('/v4/magnet/files', [['id[]', id]]))['magnets']);
    return { ...torrent, files: flattenFiles(magnetFiles[0]?.['files'], '') };
  }

  async add(magnet: Magnet): Promise<ProviderTorrent> {
    const { magnets } = await this.#request('/v4/magnet/upload', [['magnets[]', buildMagnetUri(magnet)]]);
    const [added] = toRecords(magnets);
    if (added === undefined) throw createMalformedError(this.#httpClient.service.name);
    const addError = toProviderError(added['error']);
    if (addError !== undefined) throw addError;
    return await this.torrent(toText(added['id']));
  }

  async link(_torrent: ProviderTorrent, file: ProviderFile): Promise<string> {
    const unlocked = await this.#request('/v4/link/unlock', [['link', file.link ?? '']]);
    const directLink = toText(unlocked['link']);
    if (directLink !== '') return directLink;
    const delayedId = toText(unlocked['delayed']);
    if (delayedId === '') throw createMalformedError(this.#httpClient.service.name);
    for (let round = 0; round < maxDelayedPolls; round += 1) {
      const state = await this.#request('/v4/link/delayed', [['id', delayedId]]);
      if (state['status'] === 2) return toText(state['link']);
      await this.#httpClient.pause(pollIntervalMs);
    }
    throw new ProviderError('SERVICE_UNAVAILABLE', 'AllDebrid takes long to make this link. Try again in a minute.');
  }

  async remove(id: string): Promise<void> {
    await this.#request('/v4/magnet/delete', [['id', id]]);
  }

  async #request(
    path: string,
    form?: readonly (readonly [string, string])[],
  ): Promise<Readonly<Record<string, unknown>>> {
    const method = form === undefined ? 'GET' : 'POST';
    const reply = await this.#httpClient.send(
      { path: `${path}?agent=homeport`, method, headers: this.#headers, ...(form === undefined ? {} : { form }) },
      findError,
    );
    return toRecord(toRecord(reply.json)['data']);
  }
}

/** Reads the error of a response. AllDebrid often sends errors with status 200. */
function findError({ json, headers }: ProviderReply): ProviderError | undefined {
  const { status, error } = toRecord(json);
  return status === 'error' ? toProviderError(error, headers['retry-after']) : undefined;
}

function toProviderError(error: unknown, retryAfter?: string): ProviderError | undefined {
  if (error === undefined || error === null) return undefined;
  const { code, message } = toRecord(error);
  const knownError = Object.hasOwn(codes, toText(code)) ? codes[toText(code)] : undefined;
  if (toText(code).includes('RATE')) return createRateLimitError('AllDebrid', retryAfter);
  if (knownError !== undefined)
    return new ProviderError(knownError[0], `AllDebrid ${knownError[1]}.`, { reason: toText(code) });
  return new ProviderError('UNKNOWN', `AllDebrid refused: ${toText(message).slice(0, 200)}`, { reason: toText(code) });
}

function toTorrent(item: Readonly<Record<string, unknown>>): ProviderTorrent {
  const code = toNumber(item['statusCode']) ?? 0;
  const state: TorrentState =
    code === readyStatusCode ? 'ready' : code > readyStatusCode ? 'failed' : code === 0 ? 'queued' : 'downloading';
  const [size, downloaded] = [toNumber(item['size']), toNumber(item['downloaded'])];
  const hash = toText(item['hash']).toLowerCase();
  return {
    id: toText(item['id']),
    hash: hash === '' ? undefined : hash,
    name: toText(item['filename']),
    size,
    state,
    progress: state === 'ready' ? 1 : size !== undefined && size > 0 ? (downloaded ?? 0) / size : 0,
    // An empty list ends the wait of the player for a downloading torrent.
    files: state === 'downloading' ? [] : undefined,
    addedAt: toTimestamp(item['uploadDate']),
  };
}

/** Flattens a tree of `{n, e}` with leaves `{n, s, l}`. */
function flattenFiles(nodes: unknown, folder: string): readonly ProviderFile[] {
  return toRecords(nodes).flatMap((node): readonly ProviderFile[] => {
    const path = `${folder}${toText(node['n'])}`;
    if (Array.isArray(node['e'])) return flattenFiles(node['e'], `${path}/`);
    const link = toText(node['l']);
    return [{ id: link, path, size: toNumber(node['s']) ?? 0, index: undefined, link }];
  });
}
