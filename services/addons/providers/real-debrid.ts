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

const codes: ReadonlyMap<number, readonly [ProviderErrorCode, (parameters: { name: string }) => string]> = new Map([
  [-1, ['SERVICE_UNAVAILABLE', m.internalError]],
  [2, ['STORE_MAGNET_INVALID', m.torrentInvalid]],
  [5, ['TOO_MANY_REQUESTS', m.rateLimited]],
  [7, ['NOT_FOUND', m.notFound]],
  [8, ['UNAUTHORIZED', m.keyRejected]],
  [9, ['FORBIDDEN', m.forbidden]],
  [10, ['UNAUTHORIZED', m.secondFactorRequired]],
  [11, ['UNAUTHORIZED', m.secondFactorRequired]],
  [12, ['UNAUTHORIZED', m.loginRejected]],
  [14, ['FORBIDDEN', m.accountLocked]],
  [15, ['FORBIDDEN', m.accountNotActivated]],
  [16, ['NOT_FOUND', m.hostNotSupported]],
  [17, ['SERVICE_UNAVAILABLE', m.maintenance]],
  [18, ['STORE_LIMIT_EXCEEDED', m.hostTrafficUsedUp]],
  [19, ['SERVICE_UNAVAILABLE', m.hostUnreachable]],
  [20, ['PAYMENT_REQUIRED', m.paidPlanRequired]],
  [21, ['STORE_LIMIT_EXCEEDED', m.tooManyActiveTorrents]],
  [22, ['FORBIDDEN', m.addressBlocked]],
  [23, ['STORE_LIMIT_EXCEEDED', m.dailyTrafficUsedUp]],
  [24, ['NOT_FOUND', m.fileLost]],
  [25, ['SERVICE_UNAVAILABLE', m.unavailable]],
  [26, ['STORE_MAGNET_INVALID', m.torrentTooLarge]],
  [27, ['STORE_MAGNET_INVALID', m.torrentRejected]],
  [28, ['STORE_MAGNET_INVALID', m.fileTypeRejected]],
  [29, ['STORE_MAGNET_INVALID', m.torrentTooLarge]],
  [30, ['STORE_MAGNET_INVALID', m.torrentInvalid]],
  [33, ['CONFLICT', m.torrentExistsActive]],
  [34, ['TOO_MANY_REQUESTS', m.rateLimited]],
  [35, ['UNAVAILABLE_FOR_LEGAL_REASONS', m.legallyBlocked]],
  [36, ['STORE_LIMIT_EXCEEDED', m.fairUseExceeded]],
  [37, ['FORBIDDEN', m.featureDisabled]],
]);
const alreadySelected = 31;

const states: Readonly<Record<string, TorrentState>> = {
  downloaded: 'ready',
  waiting_files_selection: 'selecting',
  queued: 'queued',
  magnet_conversion: 'queued',
  downloading: 'downloading',
  compressing: 'downloading',
  uploading: 'downloading',
  magnet_error: 'failed',
  error: 'failed',
  virus: 'failed',
  dead: 'failed',
};

/** Client of Real-Debrid. It no longer reports availability before a torrent is added. */
export class RealDebrid implements Provider {
  readonly #httpClient: ProviderHttpClient;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(httpClient: ProviderHttpClient, { apiKey = '' }: Readonly<Record<string, string>>) {
    this.#httpClient = httpClient;
    this.#headers = { authorization: `Bearer ${apiKey}` };
  }

  async user() {
    const user = toRecord((await this.#request('/user')).json);
    const isPremium = user['type'] === 'premium';
    return {
      name: toText(user['username']),
      plan: isPremium ? ('premium' as const) : ('expired' as const),
      until: toTimestamp(user['expiration']),
    };
  }

  async library(): Promise<readonly ProviderTorrent[]> {
    return toRecords((await this.#request('/torrents?limit=1000')).json).map(toTorrent);
  }

  async torrent(id: string): Promise<ProviderTorrent> {
    return toTorrent(toRecord((await this.#request(`/torrents/info/${encodeURIComponent(id)}`)).json));
  }

  async add(magnet: Magnet): Promise<ProviderTorrent> {
    const reply = await this.#request('/torrents/addMagnet', 'POST', [['magnet', buildMagnetUri(magnet)]]);
    const id = toText(toRecord(reply.json)['id']);
    if (id === '') throw createMalformedError(this.#httpClient.service.name);
    return await this.torrent(id);
  }

  async select({ id }: ProviderTorrent, files: readonly ProviderFile[]): Promise<void> {
    const list = files.length === 0 ? 'all' : files.map((file) => file.id).join(',');
    await this.#request(`/torrents/selectFiles/${encodeURIComponent(id)}`, 'POST', [['files', list]]);
  }

  async link(_torrent: ProviderTorrent, file: ProviderFile, userIp: string | undefined): Promise<string> {
    if (file.link === undefined) throw new ProviderError('NOT_FOUND', () => m.fileWithoutLink({ name: 'Real-Debrid' }));
    const form: (readonly [string, string])[] = [['link', file.link]];
    if (userIp !== undefined) form.push(['ip', userIp]);
    const reply = toRecord((await this.#request('/unrestrict/link', 'POST', form)).json);
    const download = toText(reply['download']);
    if (download === '') throw createMalformedError(this.#httpClient.service.name);
    return download;
  }

  async remove(id: string): Promise<void> {
    await this.#request(`/torrents/delete/${encodeURIComponent(id)}`, 'DELETE');
  }

  #request(path: string, method = 'GET', form?: readonly (readonly [string, string])[]): Promise<ProviderReply> {
    return this.#httpClient.send(
      { path, method, headers: this.#headers, ...(form === undefined ? {} : { form }) },
      findError,
    );
  }
}

function findError({ status, json, headers }: ProviderReply): ProviderError | undefined {
  if (status < 400) return undefined;
  const { error, error_code: number } = toRecord(json);
  const code = toNumber(number);
  // The requested selection already exists.
  if (code === alreadySelected) return undefined;
  const knownError = code === undefined ? undefined : codes.get(code);
  if (knownError === undefined) return undefined;
  const [errorCode, message] = knownError;
  if (errorCode === 'TOO_MANY_REQUESTS') return createRateLimitError('Real-Debrid', headers['retry-after']);
  return new ProviderError(errorCode, () => message({ name: 'Real-Debrid' }), { reason: toText(error) });
}

function toTorrent(item: Readonly<Record<string, unknown>>): ProviderTorrent {
  const links = Array.isArray(item['links']) ? item['links'].map(toText) : [];
  const fileItems = toRecords(item['files']);
  let linkIndex = 0;
  // Links belong to the selected files in order. An archive has one link for all files.
  const selectedItems = fileItems.filter(({ selected }) => selected === 1 || selected === true);
  const hasSeparateLinks = links.length === selectedItems.length;
  const files = fileItems.map((file): ProviderFile => {
    const isSelected = file['selected'] === 1 || file['selected'] === true;
    const link = isSelected && hasSeparateLinks ? links[linkIndex] : undefined;
    if (isSelected) linkIndex += 1;
    const id = toText(file['id']);
    return {
      id,
      path: toText(file['path']).replace(/^\//, ''),
      size: toNumber(file['bytes']) ?? 0,
      index: (toNumber(file['id']) ?? 1) - 1,
      link,
    };
  });
  const hash = toText(item['hash']).toLowerCase();
  return {
    id: toText(item['id']),
    hash: hash === '' ? undefined : hash,
    name: toText(item['filename']),
    size: toNumber(item['bytes']),
    state: findOwn(states, toText(item['status'])) ?? 'queued',
    progress: (toNumber(item['progress']) ?? 0) / 100,
    files: fileItems.length === 0 ? undefined : files,
    addedAt: toTimestamp(item['added']),
  };
}
