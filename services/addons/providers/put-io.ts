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
  type ProviderRequest,
} from './provider-http-client.ts';
import {
  magnetUri,
  ProviderError,
  type Magnet,
  type Provider,
  type ProviderErrorCode,
  type ProviderFile,
  type ProviderTorrent,
  type TorrentState,
} from './provider.ts';

const codes: Readonly<Record<string, readonly [ProviderErrorCode, string]>> = {
  invalid_grant: ['UNAUTHORIZED', 'does not accept this token. Put in a valid one'],
  NotFound: ['NOT_FOUND', 'does not know this'],
  Alreadyadded: ['CONFLICT', 'has this torrent at work already'],
  DiskQuotaReached: ['STORE_LIMIT_EXCEEDED', 'has no room left for you. Remove something'],
  TOO_MANY_TRANSFERS: ['STORE_LIMIT_EXCEEDED', 'has too many transfers of yours'],
  PAYMENT_REQUIRED: ['PAYMENT_REQUIRED', 'wants a paid account for this'],
  DMCA: ['UNAVAILABLE_FOR_LEGAL_REASONS', 'may not give this out'],
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
  readonly #caller: ProviderCaller;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(caller: ProviderCaller, { token = '' }: Readonly<Record<string, string>>) {
    this.#caller = caller;
    this.#headers = { authorization: `Bearer ${token}` };
  }

  async user() {
    const info = record((await this.#call({ path: '/account/info' }))['info']);
    const until = timeOf(info['plan_expiration_date']);
    return {
      name: textOf(info['username']),
      plan: info['account_active'] === false ? ('expired' as const) : ('premium' as const),
      until,
    };
  }

  async library(): Promise<readonly ProviderTorrent[]> {
    return records((await this.#call({ path: '/transfers/list' }))['transfers']).map(toTorrent);
  }

  async torrent(id: string): Promise<ProviderTorrent> {
    const transfer = record((await this.#call({ path: `/transfers/${encodeURIComponent(id)}` }))['transfer']);
    const torrent = toTorrent(transfer);
    const root = textOf(transfer['file_id']);
    if (torrent.state !== 'ready' || root === '') return torrent;
    return { ...torrent, files: await this.#files(root, '', 0) };
  }

  async add(magnet: Magnet): Promise<ProviderTorrent> {
    try {
      return toTorrent(
        record(
          (await this.#call({ path: '/transfers/add', method: 'POST', form: [['url', magnetUri(magnet)]] }))[
            'transfer'
          ],
        ),
      );
    } catch (error) {
      if (!(error instanceof ProviderError) || error.code !== 'CONFLICT') throw error;
      const known = (await this.library()).find(({ hash }) => hash === magnet.hash);
      if (known === undefined) throw error;
      return known;
    }
  }

  async link(_torrent: ProviderTorrent, file: ProviderFile): Promise<string> {
    const { url } = await this.#call({ path: `/files/${encodeURIComponent(file.id)}/url` });
    if (typeof url !== 'string' || url === '') throw malformed(this.#caller.service.name);
    return url;
  }

  async remove(id: string): Promise<void> {
    await this.#call({ path: '/transfers/cancel', method: 'POST', form: [['transfer_ids', id]] });
  }

  async #files(id: string, folder: string, depth: number): Promise<readonly ProviderFile[]> {
    const { files, parent } = await this.#call({ path: `/files/list?parent_id=${encodeURIComponent(id)}` });
    const own = record(parent);
    // A torrent with a single file has no folder.
    if (own['content_type'] !== undefined && own['content_type'] !== folderType) return [toFile(own, folder)];
    const found: ProviderFile[] = [];
    for (const item of records(files)) {
      if (item['content_type'] !== folderType) found.push(toFile(item, folder));
      else if (depth < 3)
        found.push(...(await this.#files(textOf(item['id']), `${folder}${textOf(item['name'])}/`, depth + 1)));
    }
    return found;
  }

  async #call(request: ProviderRequest): Promise<Readonly<Record<string, unknown>>> {
    return record((await this.#caller.call({ ...request, headers: this.#headers }, faultOf)).json);
  }
}

function faultOf({ status, json, headers }: ProviderReply): ProviderError | undefined {
  const { status: said, error_type: type, error_message: message } = record(json);
  if (said !== 'ERROR' && status < 400) return undefined;
  if (status === 429) return tooMany('put.io', headers['retry-after']);
  const known = Object.hasOwn(codes, textOf(type)) ? codes[textOf(type)] : undefined;
  if (known !== undefined) return new ProviderError(known[0], `put.io ${known[1]}.`, { reason: textOf(type) });
  return status < 400 || (status === 400 && textOf(message) !== '')
    ? new ProviderError('STORE_MAGNET_INVALID', `put.io refused: ${textOf(message).slice(0, 200)}`, {
        reason: textOf(type),
      })
    : undefined;
}

function toFile(item: Readonly<Record<string, unknown>>, folder: string): ProviderFile {
  return {
    id: textOf(item['id']),
    path: `${folder}${textOf(item['name'])}`,
    size: numberOf(item['size']) ?? 0,
    index: undefined,
    link: undefined,
  };
}

function toTorrent(transfer: Readonly<Record<string, unknown>>): ProviderTorrent {
  const state = findOwn(states, textOf(transfer['status'])) ?? 'queued';
  const source = `${textOf(transfer['hash'])} ${textOf(transfer['magneturi'])} ${textOf(transfer['source'])}`;
  return {
    id: textOf(transfer['id']),
    hash: /\b([0-9a-f]{40})\b/i.exec(source)?.[1]?.toLowerCase(),
    name: textOf(transfer['name']),
    size: numberOf(transfer['size']),
    state,
    progress: (numberOf(transfer['percent_done']) ?? 0) / 100,
    files: state === 'downloading' ? [] : undefined,
    addedAt: timeOf(transfer['created_at']),
  };
}
