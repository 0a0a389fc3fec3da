import * as m from '#messages/addons-problems';
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

const codes: Readonly<Record<string, readonly [ProviderErrorCode, (parameters: { name: string }) => string]>> = {
  AUTH_MISSING_APIKEY: ['UNAUTHORIZED', m.keyRejected],
  AUTH_BAD_APIKEY: ['UNAUTHORIZED', m.keyRejected],
  AUTH_BLOCKED: ['FORBIDDEN', m.addressBlockedSeeMail],
  AUTH_USER_BANNED: ['FORBIDDEN', m.accountLocked],
  NO_SERVER: ['FORBIDDEN', m.dataCenterBlocked],
  MUST_BE_PREMIUM: ['PAYMENT_REQUIRED', m.paidPlanRequired],
  MAGNET_MUST_BE_PREMIUM: ['PAYMENT_REQUIRED', m.paidPlanRequired],
  FREE_TRIAL_LIMIT_REACHED: ['PAYMENT_REQUIRED', m.trialUsedUp],
  MAGNET_INVALID_ID: ['NOT_FOUND', m.torrentNotFound],
  MAGNET_INVALID_URI: ['STORE_MAGNET_INVALID', m.torrentInvalid],
  MAGNET_NO_URI: ['STORE_MAGNET_INVALID', m.torrentInvalid],
  MAGNET_TOO_MANY_ACTIVE: ['STORE_LIMIT_EXCEEDED', m.tooManyActiveTorrents],
  MAGNET_TOO_MANY: ['STORE_LIMIT_EXCEEDED', m.tooManyTorrents],
  MAGNET_PROCESSING: ['CONFLICT', m.torrentInProgress],
  LINK_DOWN: ['NOT_FOUND', m.fileLost],
  LINK_HOST_NOT_SUPPORTED: ['NOT_FOUND', m.hostNotSupported],
  LINK_HOST_LIMIT_REACHED: ['STORE_LIMIT_EXCEEDED', m.trafficUsedUp],
  MAINTENANCE: ['SERVICE_UNAVAILABLE', m.maintenance],
  '404': ['NOT_FOUND', m.notFound],
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
    throw new ProviderError('SERVICE_UNAVAILABLE', () => m.linkDelayed({ name: 'AllDebrid' }));
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
    return new ProviderError(knownError[0], () => knownError[1]({ name: 'AllDebrid' }), { reason: toText(code) });
  return new ProviderError(
    'UNKNOWN',
    () => m.providerError({ name: 'AllDebrid', message: toText(message).slice(0, 200) }),
    { reason: toText(code) },
  );
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
