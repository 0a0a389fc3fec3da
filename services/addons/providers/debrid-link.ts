import * as m from '#messages/addons-problems';
import {
  createMalformedError,
  toNumber,
  toRecords,
  toText,
  toTimestamp,
  type ProviderHttpClient,
  type ProviderReply,
  type ProviderRequest,
} from './provider-http-client.ts';
import { ProviderError, type ProviderErrorCode } from '../domain/provider-error.ts';
import { buildMagnetUri, type Magnet, type Provider, type ProviderFile, type ProviderTorrent } from './provider.ts';
import { toRecord } from '../../contracts/is-record.ts';

const hourMs = 3_600_000;
const completePercent = 100;
const codes: Readonly<Record<string, readonly [ProviderErrorCode, (parameters: { name: string }) => string]>> = {
  badToken: ['UNAUTHORIZED', m.keyRejected],
  expired_token: ['UNAUTHORIZED', m.keyExpired],
  access_denied: ['FORBIDDEN', m.forbidden],
  accountLocked: ['FORBIDDEN', m.accountLocked],
  serverNotAllowed: ['FORBIDDEN', m.dataCenterBlocked],
  freeServerOverload: ['PAYMENT_REQUIRED', m.freeAccountsBlocked],
  floodDetected: ['TOO_MANY_REQUESTS', m.waitAnHour],
  maxTorrent: ['STORE_LIMIT_EXCEEDED', m.tooManyTorrents],
  maxTransfer: ['STORE_LIMIT_EXCEEDED', m.tooManyTransfers],
  maxLink: ['STORE_LIMIT_EXCEEDED', m.linksUsedUp],
  maxData: ['STORE_LIMIT_EXCEEDED', m.dailyTrafficUsedUp],
  torrentTooBig: ['STORE_LIMIT_EXCEEDED', m.torrentTooLarge],
  notAddTorrent: ['STORE_MAGNET_INVALID', m.torrentRejected],
  notDebrid: ['NOT_FOUND', m.notServed],
  fileNotFound: ['NOT_FOUND', m.fileNotFound],
  maintenanceHost: ['SERVICE_UNAVAILABLE', m.maintenance],
};

/** Client of Debrid-Link. Its links are direct, and it reports the availability of a torrent when it is added. */
export class DebridLink implements Provider {
  readonly #httpClient: ProviderHttpClient;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(httpClient: ProviderHttpClient, { apiKey = '' }: Readonly<Record<string, string>>) {
    this.#httpClient = httpClient;
    this.#headers = { authorization: `Bearer ${apiKey}` };
  }

  async user() {
    const info = toRecord(await this.#request({ path: '/account/infos' }));
    const premiumSeconds = toNumber(info['premiumLeft']) ?? 0;
    const plan = toNumber(info['accountType']) === 1 ? ('premium' as const) : ('expired' as const);
    return {
      name: toText(info['username']),
      plan,
      until: premiumSeconds > 0 ? Date.now() + premiumSeconds * 1000 : undefined,
    };
  }

  async library(): Promise<readonly ProviderTorrent[]> {
    return toRecords(await this.#request({ path: '/seedbox/list?perPage=50' })).map(toTorrent);
  }

  async torrent(id: string): Promise<ProviderTorrent> {
    const [torrentItem] = toRecords(await this.#request({ path: `/seedbox/list?ids=${encodeURIComponent(id)}` }));
    if (torrentItem === undefined)
      throw new ProviderError('NOT_FOUND', () => m.torrentNotFound({ name: 'Debrid-Link' }));
    return toTorrent(torrentItem);
  }

  async add(magnet: Magnet): Promise<ProviderTorrent> {
    return toTorrent(
      toRecord(
        await this.#request({
          path: '/seedbox/add',
          method: 'POST',
          json: { url: buildMagnetUri(magnet), async: true, wait: false },
        }),
      ),
    );
  }

  async link(_torrent: ProviderTorrent, file: ProviderFile): Promise<string> {
    if (file.link === undefined || file.link === '') throw createMalformedError(this.#httpClient.service.name);
    return file.link;
  }

  async remove(id: string): Promise<void> {
    await this.#request({ path: `/seedbox/${encodeURIComponent(id)}/remove`, method: 'DELETE' });
  }

  async #request(request: ProviderRequest): Promise<unknown> {
    return toRecord((await this.#httpClient.send({ ...request, headers: this.#headers }, findError)).json)['value'];
  }
}

function findError({ json }: ProviderReply): ProviderError | undefined {
  const { success, error } = toRecord(json);
  if (success !== false) return undefined;
  const code = toText(error);
  const knownError = Object.hasOwn(codes, code) ? codes[code] : undefined;
  if (knownError === undefined)
    return new ProviderError('UNKNOWN', () => m.providerError({ name: 'Debrid-Link', message: code.slice(0, 100) }), {
      reason: code,
    });
  return new ProviderError(knownError[0], () => knownError[1]({ name: 'Debrid-Link' }), {
    reason: code,
    retryAfterMs: code === 'floodDetected' ? hourMs : undefined,
    isAboutAccount: code === 'floodDetected',
  });
}

function toTorrent(item: Readonly<Record<string, unknown>>): ProviderTorrent {
  const percent = toNumber(item['downloadPercent']) ?? 0;
  const hash = toText(item['hashString']).toLowerCase();
  const files = toRecords(item['files']).map((file, index): ProviderFile => ({
    id: toText(file['id']),
    path: toText(file['name']),
    size: toNumber(file['size']) ?? 0,
    index,
    link: toText(file['downloadUrl']),
  }));
  return {
    id: toText(item['id']),
    hash: hash === '' ? undefined : hash,
    name: toText(item['name']),
    size: toNumber(item['totalSize']),
    state: percent >= completePercent ? 'ready' : percent > 0 || files.length > 0 ? 'downloading' : 'queued',
    progress: percent / completePercent,
    files: files.length === 0 ? undefined : files,
    addedAt: toTimestamp(item['created']),
  };
}
