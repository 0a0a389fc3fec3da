import {
  malformed,
  numberOf,
  record,
  records,
  textOf,
  timeOf,
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
} from './provider.ts';

const hour = 3_600_000;
const whole = 100;
const codes: Readonly<Record<string, readonly [ProviderErrorCode, string]>> = {
  badToken: ['UNAUTHORIZED', 'does not accept this key. Put in a valid one'],
  expired_token: ['UNAUTHORIZED', 'says that this key has expired. Make a new one'],
  access_denied: ['FORBIDDEN', 'refuses this'],
  accountLocked: ['FORBIDDEN', 'has locked this account'],
  serverNotAllowed: ['FORBIDDEN', 'does not serve addresses of data centres'],
  freeServerOverload: ['PAYMENT_REQUIRED', 'has no room for free accounts now'],
  floodDetected: ['TOO_MANY_REQUESTS', 'asks you to wait for an hour'],
  maxTorrent: ['STORE_LIMIT_EXCEEDED', 'has too many torrents of yours. Remove one'],
  maxTransfer: ['STORE_LIMIT_EXCEEDED', 'has too many transfers of yours'],
  maxLink: ['STORE_LIMIT_EXCEEDED', 'has no links left for you today'],
  maxData: ['STORE_LIMIT_EXCEEDED', 'has no traffic left for you today'],
  torrentTooBig: ['STORE_LIMIT_EXCEEDED', 'finds this torrent too large'],
  notAddTorrent: ['STORE_MAGNET_INVALID', 'does not take this torrent'],
  notDebrid: ['NOT_FOUND', 'cannot serve this'],
  fileNotFound: ['NOT_FOUND', 'does not know this file'],
  maintenanceHost: ['SERVICE_UNAVAILABLE', 'is under maintenance'],
};

/** Client of Debrid-Link. Its links are direct, and it reports the availability of a torrent when it is added. */
export class DebridLink implements Provider {
  readonly #caller: ProviderCaller;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(caller: ProviderCaller, { apiKey = '' }: Readonly<Record<string, string>>) {
    this.#caller = caller;
    this.#headers = { authorization: `Bearer ${apiKey}` };
  }

  async user() {
    const info = record(await this.#value({ path: '/account/infos' }));
    const left = numberOf(info['premiumLeft']) ?? 0;
    const plan = numberOf(info['accountType']) === 1 ? ('premium' as const) : ('expired' as const);
    return { name: textOf(info['username']), plan, until: left > 0 ? Date.now() + left * 1000 : undefined };
  }

  async library(): Promise<readonly ProviderTorrent[]> {
    return records(await this.#value({ path: '/seedbox/list?perPage=50' })).map(toTorrent);
  }

  async torrent(id: string): Promise<ProviderTorrent> {
    const [found] = records(await this.#value({ path: `/seedbox/list?ids=${encodeURIComponent(id)}` }));
    if (found === undefined) throw new ProviderError('NOT_FOUND', 'Debrid-Link does not know this torrent.');
    return toTorrent(found);
  }

  async add(magnet: Magnet): Promise<ProviderTorrent> {
    return toTorrent(
      record(
        await this.#value({
          path: '/seedbox/add',
          method: 'POST',
          json: { url: magnetUri(magnet), async: true, wait: false },
        }),
      ),
    );
  }

  async link(_torrent: ProviderTorrent, file: ProviderFile): Promise<string> {
    if (file.link === undefined || file.link === '') throw malformed(this.#caller.service.name);
    return file.link;
  }

  async remove(id: string): Promise<void> {
    await this.#value({ path: `/seedbox/${encodeURIComponent(id)}/remove`, method: 'DELETE' });
  }

  async #value(request: ProviderRequest): Promise<unknown> {
    return record((await this.#caller.call({ ...request, headers: this.#headers }, faultOf)).json)['value'];
  }
}

function faultOf({ json }: ProviderReply): ProviderError | undefined {
  const { success, error } = record(json);
  if (success !== false) return undefined;
  const code = textOf(error);
  const known = Object.hasOwn(codes, code) ? codes[code] : undefined;
  if (known === undefined)
    return new ProviderError('UNKNOWN', `Debrid-Link refused: ${code.slice(0, 100)}`, { reason: code });
  return new ProviderError(known[0], `Debrid-Link ${known[1]}.`, {
    reason: code,
    retryAfterMs: code === 'floodDetected' ? hour : undefined,
    isAboutAccount: code === 'floodDetected',
  });
}

function toTorrent(item: Readonly<Record<string, unknown>>): ProviderTorrent {
  const percent = numberOf(item['downloadPercent']) ?? 0;
  const hash = textOf(item['hashString']).toLowerCase();
  const files = records(item['files']).map((file, index): ProviderFile => ({
    id: textOf(file['id']),
    path: textOf(file['name']),
    size: numberOf(file['size']) ?? 0,
    index,
    link: textOf(file['downloadUrl']),
  }));
  return {
    id: textOf(item['id']),
    hash: hash === '' ? undefined : hash,
    name: textOf(item['name']),
    size: numberOf(item['totalSize']),
    state: percent >= whole ? 'ready' : percent > 0 || files.length > 0 ? 'downloading' : 'queued',
    progress: percent / whole,
    files: files.length === 0 ? undefined : files,
    addedAt: timeOf(item['created']),
  };
}
