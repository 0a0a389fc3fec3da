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
  type ProviderRequest,
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
  invalid_grant: ['UNAUTHORIZED', m.tokenRejected],
  NotFound: ['NOT_FOUND', m.notFound],
  Alreadyadded: ['CONFLICT', m.torrentExistsActive],
  DiskQuotaReached: ['STORE_LIMIT_EXCEEDED', m.storageFull],
  TOO_MANY_TRANSFERS: ['STORE_LIMIT_EXCEEDED', m.tooManyTransfers],
  PAYMENT_REQUIRED: ['PAYMENT_REQUIRED', m.paidPlanRequired],
  DMCA: ['UNAVAILABLE_FOR_LEGAL_REASONS', m.legallyBlocked],
};
const states: Readonly<Record<string, TorrentState>> = {
  COMPLETED: 'ready',
  SEEDING: 'ready',
  IN_QUEUE: 'queued',
  WAITING: 'queued',
  DOWNLOADING: 'downloading',
  COMPLETING: 'downloading',
  ERROR: 'failed',
};
const folderType = 'application/x-directory';

/** Client of put.io. It does not report availability, but files in the account play immediately. */
export class PutIo implements Provider {
  readonly #httpClient: ProviderHttpClient;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(httpClient: ProviderHttpClient, { token = '' }: Readonly<Record<string, string>>) {
    this.#httpClient = httpClient;
    this.#headers = { authorization: `Bearer ${token}` };
  }

  async user() {
    const info = toRecord((await this.#request({ path: '/account/info' }))['info']);
    const until = toTimestamp(info['plan_expiration_date']);
    return {
      name: toText(info['username']),
      plan: info['account_active'] === false ? ('expired' as const) : ('premium' as const),
      until,
    };
  }

  async library(): Promise<readonly ProviderTorrent[]> {
    return toRecords((await this.#request({ path: '/transfers/list' }))['transfers']).map(toTorrent);
  }

  async torrent(id: string): Promise<ProviderTorrent> {
    const transfer = toRecord((await this.#request({ path: `/transfers/${encodeURIComponent(id)}` }))['transfer']);
    const torrent = toTorrent(transfer);
    const rootFileId = toText(transfer['file_id']);
    if (torrent.state !== 'ready' || rootFileId === '') return torrent;
    return { ...torrent, files: await this.#listFiles(rootFileId, '', 0) };
  }

  async add(magnet: Magnet): Promise<ProviderTorrent> {
    try {
      return toTorrent(
        toRecord(
          (await this.#request({ path: '/transfers/add', method: 'POST', form: [['url', buildMagnetUri(magnet)]] }))[
            'transfer'
          ],
        ),
      );
    } catch (error) {
      if (!(error instanceof ProviderError) || error.code !== 'CONFLICT') throw error;
      const existing = (await this.library()).find(({ hash }) => hash === magnet.hash);
      if (existing === undefined) throw error;
      return existing;
    }
  }

  async link(_torrent: ProviderTorrent, file: ProviderFile): Promise<string> {
    const { url } = await this.#request({ path: `/files/${encodeURIComponent(file.id)}/url` });
    if (typeof url !== 'string' || url === '') throw createMalformedError(this.#httpClient.service.name);
    return url;
  }

  async remove(id: string): Promise<void> {
    await this.#request({ path: '/transfers/cancel', method: 'POST', form: [['transfer_ids', id]] });
  }

  async #listFiles(id: string, folder: string, depth: number): Promise<readonly ProviderFile[]> {
    const { files, parent } = await this.#request({ path: `/files/list?parent_id=${encodeURIComponent(id)}` });
    const parentFile = toRecord(parent);
    // A torrent with a single file has no folder.
    if (parentFile['content_type'] !== undefined && parentFile['content_type'] !== folderType)
      return [toFile(parentFile, folder)];
    const foundFiles: ProviderFile[] = [];
    for (const item of toRecords(files)) {
      if (item['content_type'] !== folderType) foundFiles.push(toFile(item, folder));
      else if (depth < 3)
        foundFiles.push(...(await this.#listFiles(toText(item['id']), `${folder}${toText(item['name'])}/`, depth + 1)));
    }
    return foundFiles;
  }

  async #request(request: ProviderRequest): Promise<Readonly<Record<string, unknown>>> {
    return toRecord((await this.#httpClient.send({ ...request, headers: this.#headers }, findError)).json);
  }
}

function findError({ status, json, headers }: ProviderReply): ProviderError | undefined {
  const { status: responseStatus, error_type: type, error_message: message } = toRecord(json);
  if (responseStatus !== 'ERROR' && status < 400) return undefined;
  if (status === 429) return createRateLimitError('put.io', headers['retry-after']);
  const knownError = Object.hasOwn(codes, toText(type)) ? codes[toText(type)] : undefined;
  if (knownError !== undefined)
    return new ProviderError(knownError[0], () => knownError[1]({ name: 'put.io' }), { reason: toText(type) });
  return status < 400 || (status === 400 && toText(message) !== '')
    ? new ProviderError(
        'STORE_MAGNET_INVALID',
        () => m.providerError({ name: 'put.io', message: toText(message).slice(0, 200) }),
        {
          reason: toText(type),
        },
      )
    : undefined;
}

function toFile(item: Readonly<Record<string, unknown>>, folder: string): ProviderFile {
  return {
    id: toText(item['id']),
    path: `${folder}${toText(item['name'])}`,
    size: toNumber(item['size']) ?? 0,
    index: undefined,
    link: undefined,
  };
}

function toTorrent(transfer: Readonly<Record<string, unknown>>): ProviderTorrent {
  const state = findOwn(states, toText(transfer['status'])) ?? 'queued';
  const source = `${toText(transfer['hash'])} ${toText(transfer['magneturi'])} ${toText(transfer['source'])}`;
  return {
    id: toText(transfer['id']),
    hash: /\b([0-9a-f]{40})\b/i.exec(source)?.[1]?.toLowerCase(),
    name: toText(transfer['name']),
    size: toNumber(transfer['size']),
    state,
    progress: (toNumber(transfer['percent_done']) ?? 0) / 100,
    files: state === 'downloading' ? [] : undefined,
    addedAt: toTimestamp(transfer['created_at']),
  };
}
