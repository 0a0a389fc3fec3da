import * as m from '#messages/addons-problems';
import { createHash } from 'node:crypto';
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
import { SingleFlight } from '../../kit/single-flight.ts';

const minuteMs = 60_000;
const codes: ReadonlyMap<number, readonly [ProviderErrorCode, (parameters: { name: string }) => string]> = new Map([
  [3, ['STORE_MAGNET_INVALID', m.requestInvalid]],
  [5, ['NOT_FOUND', m.notFound]],
  [8, ['STORE_LIMIT_EXCEEDED', m.storageFull]],
  [9, ['FORBIDDEN', m.captchaRequired]],
  [16, ['UNAUTHORIZED', m.signInRejected]],
  [4002, ['FORBIDDEN', m.captchaRequired]],
  [4022, ['UNAUTHORIZED', m.passwordRejected]],
  [4126, ['UNAUTHORIZED', m.signInExpired]],
]);
const states: Readonly<Record<string, TorrentState>> = {
  PHASE_TYPE_COMPLETE: 'ready',
  PHASE_TYPE_PENDING: 'queued',
  PHASE_TYPE_RUNNING: 'downloading',
  PHASE_TYPE_ERROR: 'failed',
};

export interface PikPakOptions {
  readonly authUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly now: () => number;
}

interface Tokens {
  readonly access: string;
  readonly refresh: string;
  readonly user: string;
  readonly expiresAt: number;
}

/**
 * Client of PikPak. It signs in like the apps of PikPak, with the client ID from the settings. Each account signs in
 * once at a time.
 */
export class PikPak implements Provider {
  readonly #httpClient: ProviderHttpClient;
  readonly #options: PikPakOptions;
  readonly #email: string;
  readonly #password: string;
  readonly #device: string;
  readonly #signingIn = new SingleFlight(() => this.#renewTokens());
  #tokens: Tokens | undefined;
  readonly #captchas = new Map<string, { readonly token: string; readonly expiresAt: number }>();

  constructor(
    httpClient: ProviderHttpClient,
    { email = '', password = '' }: Readonly<Record<string, string>>,
    options: PikPakOptions,
  ) {
    this.#httpClient = httpClient;
    this.#options = options;
    this.#email = email;
    this.#password = password;
    this.#device = createHash('md5').update(`homeport ${email}`).digest('hex');
  }

  async user() {
    const data = toRecord((await this.#request({ path: '/vip/v1/vip/info' }))['data']);
    const plan = toText(data['type']) === 'novip' ? ('expired' as const) : ('premium' as const);
    return { name: this.#email, plan, until: toTimestamp(data['expire']) };
  }

  async library(): Promise<readonly ProviderTorrent[]> {
    const { tasks } = await this.#request({ path: '/drive/v1/tasks?type=offline&limit=500' });
    return toRecords(tasks).map(toTorrent);
  }

  /** Returns a torrent by the ID of its file or folder. */
  async torrent(id: string): Promise<ProviderTorrent> {
    const task = (await this.library()).find((torrent) => torrent.id === id);
    if (task !== undefined && task.state !== 'ready') return task;
    const file = await this.#request({ path: `/drive/v1/files/${encodeURIComponent(id)}` });
    const files = file['kind'] === 'drive#folder' ? await this.#listFiles(id, '', 0) : [toFile(file, '')];
    const hash = parseHash(file);
    return {
      id,
      hash: hash ?? task?.hash,
      name: toText(file['name']),
      size: toNumber(file['size']),
      state: 'ready',
      progress: 1,
      files,
      addedAt: toTimestamp(file['created_time']),
    };
  }

  async add(magnet: Magnet): Promise<ProviderTorrent> {
    const json = {
      kind: 'drive#file',
      upload_type: 'UPLOAD_TYPE_URL',
      url: { url: buildMagnetUri(magnet) },
      folder_type: 'DOWNLOAD',
    };
    const { task } = await this.#request({ path: '/drive/v1/files', method: 'POST', json });
    const torrent = toTorrent(toRecord(task));
    if (torrent.id === '') throw createMalformedError(this.#httpClient.service.name);
    return { ...torrent, hash: magnet.hash };
  }

  async link(_torrent: ProviderTorrent, file: ProviderFile): Promise<string> {
    const item = await this.#request({ path: `/drive/v1/files/${encodeURIComponent(file.id)}` });
    const media =
      toRecords(item['medias']).find((mediaItem) => mediaItem['is_origin'] === true) ?? toRecords(item['medias'])[0];
    const url = toText(toRecord(media?.['link'])['url']) || toText(item['web_content_link']);
    if (url === '') throw createMalformedError(this.#httpClient.service.name);
    return url;
  }

  async remove(id: string): Promise<void> {
    await this.#request({ path: '/drive/v1/files:batchTrash', method: 'POST', json: { ids: [id] } });
  }

  async #listFiles(id: string, folder: string, depth: number): Promise<readonly ProviderFile[]> {
    const foundFiles: ProviderFile[] = [];
    let page = '';
    do {
      const { files, next_page_token: nextPageToken } = await this.#request({
        path: `/drive/v1/files?parent_id=${encodeURIComponent(id)}&limit=500&page_token=${encodeURIComponent(page)}`,
      });
      for (const item of toRecords(files)) {
        if (item['kind'] !== 'drive#folder') foundFiles.push(toFile(item, folder));
        else if (depth < 3)
          foundFiles.push(
            ...(await this.#listFiles(toText(item['id']), `${folder}${toText(item['name'])}/`, depth + 1)),
          );
      }
      page = toText(nextPageToken);
    } while (page !== '' && foundFiles.length < 5000);
    return foundFiles;
  }

  async #request(request: ProviderRequest): Promise<Readonly<Record<string, unknown>>> {
    const method = request.method ?? 'GET';
    const action = `${method}:${request.path.split('?', 1)[0] ?? ''}`.replace(/(\/files\/).+$/, '$1');
    const sendRequest = async (): Promise<Readonly<Record<string, unknown>>> => {
      const tokens = await this.#getTokens();
      const headers = {
        authorization: `Bearer ${tokens.access}`,
        'x-device-id': this.#device,
        'x-captcha-token': await this.#getCaptcha(action, { user_id: tokens.user }),
      };
      return toRecord((await this.#httpClient.send({ ...request, headers }, findError)).json);
    };
    try {
      return await sendRequest();
    } catch (error) {
      // An expired session is renewed once.
      if (!(error instanceof ProviderError) || !['unauthenticated', 'captcha_invalid'].includes(error.reason))
        throw error;
      this.#tokens = undefined;
      this.#captchas.clear();
      return await sendRequest();
    }
  }

  #getTokens(): Promise<Tokens> {
    if (this.#tokens !== undefined && this.#tokens.expiresAt > this.#options.now())
      return Promise.resolve(this.#tokens);
    return this.#signingIn.run();
  }

  async #renewTokens(): Promise<Tokens> {
    const { clientId, clientSecret, authUrl, now } = this.#options;
    if (clientId === '') throw new ProviderError('FORBIDDEN', m.pikPakClientIdRequired);
    const client = { client_id: clientId, client_secret: clientSecret };
    const refreshToken = this.#tokens?.refresh;
    const requestTokens = async (path: string, fields: Readonly<Record<string, string>>): Promise<Tokens> => {
      const form = Object.entries({ ...client, ...fields });
      const reply = toRecord(
        (await this.#httpClient.send({ baseUrl: authUrl, path, method: 'POST', form }, findError)).json,
      );
      const access = toText(reply['access_token']);
      if (access === '') throw createMalformedError(this.#httpClient.service.name);
      const seconds = toNumber(reply['expires_in']) ?? 3600;
      return {
        access,
        refresh: toText(reply['refresh_token']),
        user: toText(reply['sub']),
        expiresAt: now() + Math.max(0, seconds - 60) * 1000,
      };
    };
    if (refreshToken !== undefined && refreshToken !== '') {
      try {
        return (this.#tokens = await requestTokens('/v1/auth/token', {
          grant_type: 'refresh_token',
          refresh_token: refreshToken,
        }));
      } catch (error) {
        if (!(error instanceof ProviderError) || error.code !== 'UNAUTHORIZED') throw error;
      }
    }
    const name = this.#email.includes('@') ? 'email' : /^\+?\d+$/.test(this.#email) ? 'phone_number' : 'username';
    const captcha = await this.#getCaptcha(`POST:${authUrl}/v1/auth/signin`, { [name]: this.#email });
    return (this.#tokens = await requestTokens('/v1/auth/signin', {
      username: this.#email,
      password: this.#password,
      captcha_token: captcha,
    }));
  }

  async #getCaptcha(action: string, meta: Readonly<Record<string, string>>): Promise<string> {
    const { authUrl, clientId, now } = this.#options;
    const cachedCaptcha = this.#captchas.get(action);
    if (cachedCaptcha !== undefined && cachedCaptcha.expiresAt > now()) return cachedCaptcha.token;
    const json = { client_id: clientId, action, device_id: this.#device, meta };
    const reply = toRecord(
      (
        await this.#httpClient.send(
          { baseUrl: authUrl, path: '/v1/shield/captcha/init', method: 'POST', json },
          findError,
        )
      ).json,
    );
    const token = toText(reply['captcha_token']);
    if (token === '') throw new ProviderError('FORBIDDEN', () => m.captchaRequired({ name: 'PikPak' }));
    const maxAgeMs = Math.min(5 * minuteMs, (toNumber(reply['expires_in']) ?? 60) * 1000);
    this.#captchas.set(action, { token, expiresAt: now() + maxAgeMs });
    return token;
  }
}

function findError({ status, json, headers }: ProviderReply): ProviderError | undefined {
  const { error, error_code: number, error_description: description } = toRecord(json);
  if (toText(error) === '' && status < 400) return undefined;
  if (status === 429) return createRateLimitError('PikPak', headers['retry-after']);
  const knownError = codes.get(toNumber(number) ?? 0);
  if (knownError !== undefined)
    return new ProviderError(knownError[0], () => knownError[1]({ name: 'PikPak' }), { reason: toText(error) });
  return toText(error) === ''
    ? undefined
    : new ProviderError(
        'UNKNOWN',
        () => m.providerError({ name: 'PikPak', message: toText(description).slice(0, 200) }),
        { reason: toText(error) },
      );
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

function parseHash(item: Readonly<Record<string, unknown>>): string | undefined {
  return /btih:([0-9a-f]{40})/i.exec(toText(toRecord(item['params'])['url']))?.[1]?.toLowerCase();
}

function toTorrent(task: Readonly<Record<string, unknown>>): ProviderTorrent {
  const state = findOwn(states, toText(task['phase'])) ?? 'queued';
  return {
    id: toText(task['file_id']),
    hash: parseHash(task),
    name: toText(task['name']),
    size: toNumber(task['file_size']),
    state,
    progress: (toNumber(task['progress']) ?? 0) / 100,
    files: state === 'downloading' ? [] : undefined,
    addedAt: toTimestamp(task['created_time']),
  };
}
