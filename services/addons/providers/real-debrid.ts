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
  type Magnet,
  type Provider,
  type ProviderErrorCode,
  type ProviderFile,
  type ProviderTorrent,
  type TorrentState,
} from './provider.ts';

const codes: ReadonlyMap<number, readonly [ProviderErrorCode, string]> = new Map([
  [-1, ['SERVICE_UNAVAILABLE', 'has trouble of its own']],
  [2, ['STORE_MAGNET_INVALID', 'does not understand this torrent']],
  [5, ['TOO_MANY_REQUESTS', 'asks for fewer requests']],
  [7, ['NOT_FOUND', 'does not know this']],
  [8, ['UNAUTHORIZED', 'does not accept this key. Put in a valid one']],
  [9, ['FORBIDDEN', 'refuses this']],
  [10, ['UNAUTHORIZED', 'wants a second factor']],
  [11, ['UNAUTHORIZED', 'wants a second factor']],
  [12, ['UNAUTHORIZED', 'does not accept this login']],
  [14, ['FORBIDDEN', 'has locked this account']],
  [15, ['FORBIDDEN', 'has not activated this account']],
  [16, ['NOT_FOUND', 'does not serve this source']],
  [17, ['SERVICE_UNAVAILABLE', 'is under maintenance']],
  [18, ['STORE_LIMIT_EXCEEDED', 'has no traffic left for this source']],
  [19, ['SERVICE_UNAVAILABLE', 'cannot reach this source now']],
  [20, ['PAYMENT_REQUIRED', 'wants a paid account for this']],
  [21, ['STORE_LIMIT_EXCEEDED', 'has too many torrents of yours at work. Remove one']],
  [22, ['FORBIDDEN', 'does not serve this IP address']],
  [23, ['STORE_LIMIT_EXCEEDED', 'has no traffic left for you today']],
  [24, ['NOT_FOUND', 'has lost this file']],
  [25, ['SERVICE_UNAVAILABLE', 'is not available']],
  [26, ['STORE_MAGNET_INVALID', 'finds this torrent too large']],
  [27, ['STORE_MAGNET_INVALID', 'could not take this torrent']],
  [28, ['STORE_MAGNET_INVALID', 'does not take this kind of file']],
  [29, ['STORE_MAGNET_INVALID', 'finds this torrent too large']],
  [30, ['STORE_MAGNET_INVALID', 'does not understand this torrent']],
  [33, ['CONFLICT', 'has this torrent at work already']],
  [34, ['TOO_MANY_REQUESTS', 'asks for fewer requests']],
  [35, ['UNAVAILABLE_FOR_LEGAL_REASONS', 'may not give this out']],
  [36, ['STORE_LIMIT_EXCEEDED', 'says that you have used it more than is fair']],
  [37, ['FORBIDDEN', 'has switched this off']],
]);
const alreadyDone = 31;

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
  readonly #caller: ProviderCaller;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(caller: ProviderCaller, { apiKey = '' }: Readonly<Record<string, string>>) {
    this.#caller = caller;
    this.#headers = { authorization: `Bearer ${apiKey}` };
  }

  async user() {
    const user = record((await this.#call('/user')).json);
    const paid = user['type'] === 'premium';
    return {
      name: textOf(user['username']),
      plan: paid ? ('premium' as const) : ('expired' as const),
      until: timeOf(user['expiration']),
    };
  }

  async library(): Promise<readonly ProviderTorrent[]> {
    return records((await this.#call('/torrents?limit=1000')).json).map(toTorrent);
  }

  async torrent(id: string): Promise<ProviderTorrent> {
    return toTorrent(record((await this.#call(`/torrents/info/${encodeURIComponent(id)}`)).json));
  }

  async add(magnet: Magnet): Promise<ProviderTorrent> {
    const reply = await this.#call('/torrents/addMagnet', 'POST', [['magnet', magnetUri(magnet)]]);
    const id = textOf(record(reply.json)['id']);
    if (id === '') throw malformed(this.#caller.service.name);
    return await this.torrent(id);
  }

  async select({ id }: ProviderTorrent, files: readonly ProviderFile[]): Promise<void> {
    const list = files.length === 0 ? 'all' : files.map((file) => file.id).join(',');
    await this.#call(`/torrents/selectFiles/${encodeURIComponent(id)}`, 'POST', [['files', list]]);
  }

  async link(_torrent: ProviderTorrent, file: ProviderFile, userIp: string | undefined): Promise<string> {
    if (file.link === undefined)
      throw new ProviderError('NOT_FOUND', 'Real-Debrid has no link to this file; it may be packed into an archive.');
    const form: (readonly [string, string])[] = [['link', file.link]];
    if (userIp !== undefined) form.push(['ip', userIp]);
    const reply = record((await this.#call('/unrestrict/link', 'POST', form)).json);
    const download = textOf(reply['download']);
    if (download === '') throw malformed(this.#caller.service.name);
    return download;
  }

  async remove(id: string): Promise<void> {
    await this.#call(`/torrents/delete/${encodeURIComponent(id)}`, 'DELETE');
  }

  #call(path: string, method = 'GET', form?: readonly (readonly [string, string])[]): Promise<ProviderReply> {
    return this.#caller.call(
      { path, method, headers: this.#headers, ...(form === undefined ? {} : { form }) },
      faultOf,
    );
  }
}

function faultOf({ status, json, headers }: ProviderReply): ProviderError | undefined {
  if (status < 400) return undefined;
  const { error, error_code: number } = record(json);
  const code = numberOf(number);
  // The requested selection already exists.
  if (code === alreadyDone) return undefined;
  const known = code === undefined ? undefined : codes.get(code);
  if (known === undefined) return undefined;
  const [meaning, words] = known;
  if (meaning === 'TOO_MANY_REQUESTS') return tooMany('Real-Debrid', headers['retry-after']);
  return new ProviderError(meaning, `Real-Debrid ${words}.`, { reason: textOf(error) });
}

function toTorrent(item: Readonly<Record<string, unknown>>): ProviderTorrent {
  const links = Array.isArray(item['links']) ? item['links'].map(textOf) : [];
  const listed = records(item['files']);
  let at = 0;
  // Links belong to the selected files in order. An archive has one link for all files.
  const selected = listed.filter(({ selected: is }) => is === 1 || is === true);
  const apart = links.length === selected.length;
  const files = listed.map((file): ProviderFile => {
    const taken = file['selected'] === 1 || file['selected'] === true;
    const link = taken && apart ? links[at] : undefined;
    if (taken) at += 1;
    const id = textOf(file['id']);
    return {
      id,
      path: textOf(file['path']).replace(/^\//, ''),
      size: numberOf(file['bytes']) ?? 0,
      index: (numberOf(file['id']) ?? 1) - 1,
      link,
    };
  });
  const hash = textOf(item['hash']).toLowerCase();
  return {
    id: textOf(item['id']),
    hash: hash === '' ? undefined : hash,
    name: textOf(item['filename']),
    size: numberOf(item['bytes']),
    state: findOwn(states, textOf(item['status'])) ?? 'queued',
    progress: (numberOf(item['progress']) ?? 0) / 100,
    files: listed.length === 0 ? undefined : files,
    addedAt: timeOf(item['added']),
  };
}
