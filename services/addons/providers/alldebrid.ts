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
const ready = 4;
const delayedPolls = 10;
const pollMs = 1000;

/** Client of AllDebrid. The service reports the availability of a torrent when it is added. */
export class AllDebrid implements Provider {
  readonly #caller: ProviderCaller;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(caller: ProviderCaller, { apiKey = '' }: Readonly<Record<string, string>>) {
    this.#caller = caller;
    this.#headers = { authorization: `Bearer ${apiKey}` };
  }

  async user() {
    const user = record((await this.#data('/v4/user'))['user']);
    const plan =
      user['isTrial'] === true
        ? ('trial' as const)
        : user['isPremium'] === true
          ? ('premium' as const)
          : ('expired' as const);
    return { name: textOf(user['username']), plan, until: timeOf(user['premiumUntil']) };
  }

  async library(): Promise<readonly ProviderTorrent[]> {
    const { magnets } = await this.#data('/v4.1/magnet/status');
    return (Array.isArray(magnets) ? records(magnets) : Object.values(record(magnets)).map(record)).map((magnet) =>
      toTorrent(magnet),
    );
  }

  async torrent(id: string): Promise<ProviderTorrent> {
    const { magnets } = await this.#data('/v4.1/magnet/status', [['id', id]]);
    const torrent = toTorrent(record(Array.isArray(magnets) ? magnets[0] : magnets));
    if (torrent.state !== 'ready') return torrent;
    const told = records((await this.#data('/v4/magnet/files', [['id[]', id]]))['magnets']);
    return { ...torrent, files: filesIn(told[0]?.['files'], '') };
  }

  async add(magnet: Magnet): Promise<ProviderTorrent> {
    const { magnets } = await this.#data('/v4/magnet/upload', [['magnets[]', magnetUri(magnet)]]);
    const [added] = records(magnets);
    if (added === undefined) throw malformed(this.#caller.service.name);
    const fault = errorOf(added['error']);
    if (fault !== undefined) throw fault;
    return await this.torrent(textOf(added['id']));
  }

  async link(_torrent: ProviderTorrent, file: ProviderFile): Promise<string> {
    const unlocked = await this.#data('/v4/link/unlock', [['link', file.link ?? '']]);
    const direct = textOf(unlocked['link']);
    if (direct !== '') return direct;
    const delayed = textOf(unlocked['delayed']);
    if (delayed === '') throw malformed(this.#caller.service.name);
    for (let round = 0; round < delayedPolls; round += 1) {
      const state = await this.#data('/v4/link/delayed', [['id', delayed]]);
      if (state['status'] === 2) return textOf(state['link']);
      await this.#caller.pause(pollMs);
    }
    throw new ProviderError('SERVICE_UNAVAILABLE', 'AllDebrid takes long to make this link. Try again in a minute.');
  }

  async remove(id: string): Promise<void> {
    await this.#data('/v4/magnet/delete', [['id', id]]);
  }

  async #data(path: string, form?: readonly (readonly [string, string])[]): Promise<Readonly<Record<string, unknown>>> {
    const method = form === undefined ? 'GET' : 'POST';
    const reply = await this.#caller.call(
      { path: `${path}?agent=homeport`, method, headers: this.#headers, ...(form === undefined ? {} : { form }) },
      faultOf,
    );
    return record(record(reply.json)['data']);
  }
}

/** Reads the error of a response. AllDebrid often sends errors with status 200. */
function faultOf({ json, headers }: ProviderReply): ProviderError | undefined {
  const { status, error } = record(json);
  return status === 'error' ? errorOf(error, headers['retry-after']) : undefined;
}

function errorOf(error: unknown, retryAfter?: string): ProviderError | undefined {
  if (error === undefined || error === null) return undefined;
  const { code, message } = record(error);
  const known = Object.hasOwn(codes, textOf(code)) ? codes[textOf(code)] : undefined;
  if (textOf(code).includes('RATE')) return tooMany('AllDebrid', retryAfter);
  if (known !== undefined) return new ProviderError(known[0], `AllDebrid ${known[1]}.`, { reason: textOf(code) });
  return new ProviderError('UNKNOWN', `AllDebrid refused: ${textOf(message).slice(0, 200)}`, { reason: textOf(code) });
}

function toTorrent(item: Readonly<Record<string, unknown>>): ProviderTorrent {
  const code = numberOf(item['statusCode']) ?? 0;
  const state: TorrentState =
    code === ready ? 'ready' : code > ready ? 'failed' : code === 0 ? 'queued' : 'downloading';
  const [size, downloaded] = [numberOf(item['size']), numberOf(item['downloaded'])];
  const hash = textOf(item['hash']).toLowerCase();
  return {
    id: textOf(item['id']),
    hash: hash === '' ? undefined : hash,
    name: textOf(item['filename']),
    size,
    state,
    progress: state === 'ready' ? 1 : size !== undefined && size > 0 ? (downloaded ?? 0) / size : 0,
    // An empty list ends the wait of the player for a downloading torrent.
    files: state === 'downloading' ? [] : undefined,
    addedAt: timeOf(item['uploadDate']),
  };
}

/** Flattens a tree of `{n, e}` with leaves `{n, s, l}`. */
function filesIn(nodes: unknown, folder: string): readonly ProviderFile[] {
  return records(nodes).flatMap((node): readonly ProviderFile[] => {
    const path = `${folder}${textOf(node['n'])}`;
    if (Array.isArray(node['e'])) return filesIn(node['e'], `${path}/`);
    const link = textOf(node['l']);
    return [{ id: link, path, size: numberOf(node['s']) ?? 0, index: undefined, link }];
  });
}
