import { createHash } from 'node:crypto';
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

const minute = 60_000;
const codes: ReadonlyMap<number, readonly [ProviderErrorCode, string]> = new Map([
  [3, ['STORE_MAGNET_INVALID', 'does not understand this']],
  [5, ['NOT_FOUND', 'does not know this']],
  [8, ['STORE_LIMIT_EXCEEDED', 'has no room left for you. Remove something']],
  [9, ['FORBIDDEN', 'wants a person to solve a riddle; sign in with its own app once']],
  [16, ['UNAUTHORIZED', 'does not accept this sign-in']],
  [4002, ['FORBIDDEN', 'wants a person to solve a riddle; sign in with its own app once']],
  [4022, ['UNAUTHORIZED', 'does not accept this password']],
  [4126, ['UNAUTHORIZED', 'has ended this sign-in']],
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
  readonly #caller: ProviderCaller;
  readonly #options: PikPakOptions;
  readonly #email: string;
  readonly #password: string;
  readonly #device: string;
  #signingIn: Promise<Tokens> | undefined;
  #tokens: Tokens | undefined;
  readonly #captchas = new Map<string, { readonly token: string; readonly expiresAt: number }>();

  constructor(
    caller: ProviderCaller,
    { email = '', password = '' }: Readonly<Record<string, string>>,
    options: PikPakOptions,
  ) {
    this.#caller = caller;
    this.#options = options;
    this.#email = email;
    this.#password = password;
    this.#device = createHash('md5').update(`homeport ${email}`).digest('hex');
  }

  async user() {
    const data = record((await this.#drive({ path: '/vip/v1/vip/info' }))['data']);
    const plan = textOf(data['type']) === 'novip' ? ('expired' as const) : ('premium' as const);
    return { name: this.#email, plan, until: timeOf(data['expire']) };
  }

  async library(): Promise<readonly ProviderTorrent[]> {
    const { tasks } = await this.#drive({ path: '/drive/v1/tasks?type=offline&limit=500' });
    return records(tasks).map(toTorrent);
  }

  /** Returns a torrent by the ID of its file or folder. */
  async torrent(id: string): Promise<ProviderTorrent> {
    const known = (await this.library()).find((one) => one.id === id);
    if (known !== undefined && known.state !== 'ready') return known;
    const file = await this.#drive({ path: `/drive/v1/files/${encodeURIComponent(id)}` });
    const files = file['kind'] === 'drive#folder' ? await this.#files(id, '', 0) : [toFile(file, '')];
    const hash = hashOf(file);
    return {
      id,
      hash: hash ?? known?.hash,
      name: textOf(file['name']),
      size: numberOf(file['size']),
      state: 'ready',
      progress: 1,
      files,
      addedAt: timeOf(file['created_time']),
    };
  }

  async add(magnet: Magnet): Promise<ProviderTorrent> {
    const json = {
      kind: 'drive#file',
      upload_type: 'UPLOAD_TYPE_URL',
      url: { url: magnetUri(magnet) },
      folder_type: 'DOWNLOAD',
    };
    const { task } = await this.#drive({ path: '/drive/v1/files', method: 'POST', json });
    const torrent = toTorrent(record(task));
    if (torrent.id === '') throw malformed(this.#caller.service.name);
    return { ...torrent, hash: magnet.hash };
  }

  async link(_torrent: ProviderTorrent, file: ProviderFile): Promise<string> {
    const item = await this.#drive({ path: `/drive/v1/files/${encodeURIComponent(file.id)}` });
    const media = records(item['medias']).find((one) => one['is_origin'] === true) ?? records(item['medias'])[0];
    const url = textOf(record(media?.['link'])['url']) || textOf(item['web_content_link']);
    if (url === '') throw malformed(this.#caller.service.name);
    return url;
  }

  async remove(id: string): Promise<void> {
    await this.#drive({ path: '/drive/v1/files:batchTrash', method: 'POST', json: { ids: [id] } });
  }

  async #files(id: string, folder: string, depth: number): Promise<readonly ProviderFile[]> {
    const found: ProviderFile[] = [];
    let page = '';
    do {
      const { files, next_page_token: next } = await this.#drive({
        path: `/drive/v1/files?parent_id=${encodeURIComponent(id)}&limit=500&page_token=${encodeURIComponent(page)}`,
      });
      for (const item of records(files)) {
        if (item['kind'] !== 'drive#folder') found.push(toFile(item, folder));
        else if (depth < 3)
          found.push(...(await this.#files(textOf(item['id']), `${folder}${textOf(item['name'])}/`, depth + 1)));
      }
      page = textOf(next);
    } while (page !== '' && found.length < 5000);
    return found;
  }

  async #drive(request: ProviderRequest): Promise<Readonly<Record<string, unknown>>> {
    const method = request.method ?? 'GET';
    const action = `${method}:${request.path.split('?', 1)[0] ?? ''}`.replace(/(\/files\/).+$/, '$1');
    const send = async (): Promise<Readonly<Record<string, unknown>>> => {
      const tokens = await this.#signIn();
      const headers = {
        authorization: `Bearer ${tokens.access}`,
        'x-device-id': this.#device,
        'x-captcha-token': await this.#captcha(action, { user_id: tokens.user }),
      };
      return record((await this.#caller.call({ ...request, headers }, faultOf)).json);
    };
    try {
      return await send();
    } catch (error) {
      // An expired session is renewed once.
      if (!(error instanceof ProviderError) || !['unauthenticated', 'captcha_invalid'].includes(error.reason))
        throw error;
      this.#tokens = undefined;
      this.#captchas.clear();
      return await send();
    }
  }

  #signIn(): Promise<Tokens> {
    if (this.#tokens !== undefined && this.#tokens.expiresAt > this.#options.now())
      return Promise.resolve(this.#tokens);
    this.#signingIn ??= this.#freshTokens().finally(() => (this.#signingIn = undefined));
    return this.#signingIn;
  }

  async #freshTokens(): Promise<Tokens> {
    const { clientId, clientSecret, authUrl, now } = this.#options;
    if (clientId === '')
      throw new ProviderError(
        'FORBIDDEN',
        'PikPak needs the client id of one of its apps. It goes into the settings of Addons.',
      );
    const client = { client_id: clientId, client_secret: clientSecret };
    const former = this.#tokens?.refresh;
    const ask = async (path: string, fields: Readonly<Record<string, string>>): Promise<Tokens> => {
      const form = Object.entries({ ...client, ...fields });
      const reply = record((await this.#caller.call({ base: authUrl, path, method: 'POST', form }, faultOf)).json);
      const access = textOf(reply['access_token']);
      if (access === '') throw malformed(this.#caller.service.name);
      const seconds = numberOf(reply['expires_in']) ?? 3600;
      return {
        access,
        refresh: textOf(reply['refresh_token']),
        user: textOf(reply['sub']),
        expiresAt: now() + Math.max(0, seconds - 60) * 1000,
      };
    };
    if (former !== undefined && former !== '') {
      try {
        return (this.#tokens = await ask('/v1/auth/token', { grant_type: 'refresh_token', refresh_token: former }));
      } catch (error) {
        if (!(error instanceof ProviderError) || error.code !== 'UNAUTHORIZED') throw error;
      }
    }
    const name = this.#email.includes('@') ? 'email' : /^\+?\d+$/.test(this.#email) ? 'phone_number' : 'username';
    const captcha = await this.#captcha(`POST:${authUrl}/v1/auth/signin`, { [name]: this.#email });
    return (this.#tokens = await ask('/v1/auth/signin', {
      username: this.#email,
      password: this.#password,
      captcha_token: captcha,
    }));
  }

  async #captcha(action: string, meta: Readonly<Record<string, string>>): Promise<string> {
    const { authUrl, clientId, now } = this.#options;
    const known = this.#captchas.get(action);
    if (known !== undefined && known.expiresAt > now()) return known.token;
    const json = { client_id: clientId, action, device_id: this.#device, meta };
    const reply = record(
      (await this.#caller.call({ base: authUrl, path: '/v1/shield/captcha/init', method: 'POST', json }, faultOf)).json,
    );
    const token = textOf(reply['captcha_token']);
    if (token === '')
      throw new ProviderError('FORBIDDEN', 'PikPak wants a person to solve a riddle; sign in with its own app once.');
    const keptMs = Math.min(5 * minute, (numberOf(reply['expires_in']) ?? 60) * 1000);
    this.#captchas.set(action, { token, expiresAt: now() + keptMs });
    return token;
  }
}

function faultOf({ status, json, headers }: ProviderReply): ProviderError | undefined {
  const { error, error_code: number, error_description: description } = record(json);
  if (textOf(error) === '' && status < 400) return undefined;
  if (status === 429) return tooMany('PikPak', headers['retry-after']);
  const known = codes.get(numberOf(number) ?? 0);
  if (known !== undefined) return new ProviderError(known[0], `PikPak ${known[1]}.`, { reason: textOf(error) });
  return textOf(error) === ''
    ? undefined
    : new ProviderError('UNKNOWN', `PikPak refused: ${textOf(description).slice(0, 200)}`, { reason: textOf(error) });
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

function hashOf(item: Readonly<Record<string, unknown>>): string | undefined {
  return /btih:([0-9a-f]{40})/i.exec(textOf(record(item['params'])['url']))?.[1]?.toLowerCase();
}

function toTorrent(task: Readonly<Record<string, unknown>>): ProviderTorrent {
  const state = findOwn(states, textOf(task['phase'])) ?? 'queued';
  return {
    id: textOf(task['file_id']),
    hash: hashOf(task),
    name: textOf(task['name']),
    size: numberOf(task['file_size']),
    state,
    progress: (numberOf(task['progress']) ?? 0) / 100,
    files: state === 'downloading' ? [] : undefined,
    addedAt: timeOf(task['created_time']),
  };
}
