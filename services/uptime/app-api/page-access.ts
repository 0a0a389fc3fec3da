import * as m from '#messages/uptime-problems';
import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { getHostName } from '../../kit/http/host-name.ts';
import type { ResponseHeaders } from '../../kit/http/respond.ts';
import { LruMap } from '../../kit/lru-map.ts';
import { verifyPasswordHash } from '../../kit/password-hash.ts';
import { isSameSecret } from '../../kit/same-secret.ts';
import type { ApiKeys } from '../store/api-keys.ts';
import type { StoredPage } from '../store/status-pages.ts';
import { authenticateCaller, type Caller } from './sign-in.ts';

const cookiePurpose = 'uptime.status-page';
const cookieSeconds = 7 * 86_400;
const maxCachedChecks = 500;
const maxPasswordLength = 200;
/** Programs, such as feed readers, send the password of a page as a Basic password with any name. */
const challenge = { 'WWW-Authenticate': 'Basic realm="Status page", charset="UTF-8"', 'Cache-Control': 'no-store' };

/** Code of the problem of a request without the password of a page. */
export const pageLockedCode = 'uptime.page_locked';

/** Returns the response headers of a page that not everyone may see: no cache stores it. */
export function getAccessHeaders({ config }: StoredPage): ResponseHeaders {
  return config.access === 'everyone'
    ? {}
    : { 'Cache-Control': 'no-store', Vary: 'Accept-Language, Authorization, Cookie' };
}

/** Decides who may see a status page, its feed, its badges and its JSON. */
export class PageAccess {
  readonly #context: Context;
  readonly #keys: ApiKeys;
  /** Results by password and hash, since scrypt takes about 100 ms and programs send the password with each request. */
  readonly #checked = new LruMap<string, boolean>(maxCachedChecks);
  /** Pages that credentials have opened, so that they are not tried as wrong ones of other pages at each request. */
  readonly #opened = new LruMap<string, true>(maxCachedChecks);
  readonly #cacheKey = randomBytes(32);

  constructor(context: Context, keys: ApiKeys) {
    this.#context = context;
    this.#keys = keys;
  }

  /**
   * Returns for a caller who may see a page.
   * @throws Problem `uptime.page_locked` or of the sign-in (401), `uptime.forbidden` (403),
   * `accounts.too_many_attempts` (429)
   */
  async authorize(page: StoredPage, request: IncomingMessage): Promise<void> {
    if (page.config.access === 'everyone') return;
    if (page.config.access === 'accounts') return this.#authorizeAccount(request);
    if (this.#hasCookie(page, request)) return;
    const password = readBasicPassword(request.headers.authorization);
    if (password !== undefined && (await this.#isPassword(page, password, request))) return;
    throw createLockedProblem();
  }

  /** Returns whether the caller may see a page. */
  async mayView(page: StoredPage, request: IncomingMessage): Promise<boolean> {
    try {
      await this.authorize(page, request);
      return true;
    } catch (error) {
      if (error instanceof Problem && error.status < 500) return false;
      throw error;
    }
  }

  /** Returns a page that the caller may see; one that everyone may see comes first. */
  async findVisible(pages: readonly StoredPage[], request: IncomingMessage): Promise<StoredPage | undefined> {
    const openPage = pages.find(({ config }) => config.access === 'everyone');
    if (openPage !== undefined) return openPage;
    const { authorization = '' } = request.headers;
    const getKey = ({ id }: StoredPage): string => this.#hash(`${String(id)}\0${authorization}`);
    const isOpened = (page: StoredPage): boolean => this.#opened.get(getKey(page)) === true;
    for (const page of pages.toSorted((a, b) => Number(isOpened(b)) - Number(isOpened(a)))) {
      if (!(await this.mayView(page, request))) continue;
      this.#opened.set(getKey(page), true);
      return page;
    }
    return undefined;
  }

  /**
   * Verifies the password that a visitor entered, and returns the cookie for the page. A new password ends its validity.
   * @throws Problem `uptime.page_locked` (401), `accounts.too_many_attempts` (429)
   */
  async signIn(page: StoredPage, password: string, request: IncomingMessage): Promise<string> {
    if (page.config.access !== 'password' || !(await this.#isPassword(page, password, request)))
      throw createLockedProblem();
    const expiresAt = Math.floor(this.#context.clock.now() / 1000) + cookieSeconds;
    const isSecure = this.#context.publicUrl(request)?.startsWith('https:') === true;
    const isOwnDomain = page.config.domainNameList.includes(getHostName(request));
    const path = isOwnDomain ? '/' : `/status/${page.config.slug}`;
    const value = `${String(expiresAt)}.${this.#getFingerprint(page, expiresAt)}`;
    return (
      `${getCookieName(page)}=${value}; Path=${path}; HttpOnly; SameSite=Lax; Max-Age=${String(cookieSeconds)}` +
      (isSecure ? '; Secure' : '')
    );
  }

  async #authorizeAccount(request: IncomingMessage): Promise<void> {
    const caller = await this.#authenticate(request);
    if (isPerson(caller) || caller.rights.all || caller.rights.may('uptime', 'read', '*')) return;
    throw new Problem('uptime.forbidden', 403, m.forbidden());
  }

  /** @throws Problem 401 with a challenge, so that browsers ask for a name and a password */
  async #authenticate(request: IncomingMessage): Promise<Caller> {
    try {
      return await authenticateCaller(this.#context, this.#keys, request);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 401) throw error;
      throw new Problem(error.code, 401, error.detail, { headers: challenge });
    }
  }

  async #isPassword(page: StoredPage, password: string, request: IncomingMessage): Promise<boolean> {
    const { passwordHash } = page;
    if (passwordHash === null || password === '' || password.length > maxPasswordLength) return false;
    const { remoteAddress } = this.#context.caller(request);
    const attempt = { service: 'uptime', name: `page ${String(page.id)}`, secret: password, remoteAddress };
    return this.#context.accounts.checkSecret(attempt, async () => {
      const key = this.#hash(`${passwordHash}\0${password}`);
      const isRight = this.#checked.get(key) ?? (await verifyPasswordHash(password, passwordHash));
      this.#checked.set(key, isRight);
      return isRight;
    });
  }

  /** Returns a key for a cache, which contains no secret. */
  #hash(text: string): string {
    return createHmac('sha256', this.#cacheKey).update(text).digest('base64');
  }

  #hasCookie(page: StoredPage, request: IncomingMessage): boolean {
    const name = getCookieName(page);
    return (request.headers.cookie ?? '').split(';').some((pair) => {
      const [key = '', value = ''] = pair.trim().split('=');
      const [expiry = '', fingerprint = ''] = key === name ? value.split('.') : [];
      const expiresAt = Number(expiry);
      return (
        fingerprint !== '' &&
        expiresAt * 1000 > this.#context.clock.now() &&
        isSameSecret(fingerprint, this.#getFingerprint(page, expiresAt))
      );
    });
  }

  #getFingerprint({ id, passwordHash }: StoredPage, expiresAt: number): string {
    return this.#context.vault.fingerprint(JSON.stringify([id, expiresAt, passwordHash]), cookiePurpose);
  }
}

function isPerson({ identity }: Caller): boolean {
  return identity?.kind === 'person' && identity.limited !== true && identity.needsEnrollment !== true;
}

function getCookieName({ id }: StoredPage): string {
  return `homeport-status-${String(id)}`;
}

function readBasicPassword(authorization: string | undefined): string | undefined {
  const [, encoded] = /^basic\s+(\S+)$/i.exec(authorization ?? '') ?? [];
  return encoded === undefined
    ? undefined
    : Buffer.from(encoded, 'base64')
        .toString('utf8')
        .replace(/^[^:]*:/, '');
}

function createLockedProblem(): Problem {
  return new Problem(pageLockedCode, 401, m.pagePasswordWrong(), { headers: challenge });
}
