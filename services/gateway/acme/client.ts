import { createPrivateKey } from 'node:crypto';
import type { z } from 'zod';
import type { FetchReply } from '../../contracts/outgoing.ts';
import type { Context } from '../../contracts/service.ts';
import {
  buildAuthorityError,
  AuthorityError,
  parseReply,
  toAuthorityError,
  toConnectionFailure,
} from './authority-errors.ts';
import { CertificateFailure } from './failure.ts';
import { getPublicJwk } from './keys.ts';
import { Account, Authorization, Directory, Order } from './protocol.ts';

/** Repetitions of a request whose nonce the authority rejected (RFC 8555, 6.5). */
const maxNonceRetries = 5;
const timeoutMs = 30_000;
/** Authorities require a user agent (RFC 8555, 6.1). */
const requestHeaders = { 'User-Agent': 'Homeport', 'Accept-Language': 'en' } as const;
/** Maximum difference to the authority's clock, above which certificates would appear as expired or not yet valid. */
const maxClockDifferenceMs = 3_600_000;

/** Authority and account key of a client. */
export interface ClientOptions {
  readonly directoryUrl: string;
  /** The owner entered the address, so that it may be on the local network. */
  readonly isOwnAuthority: boolean;
  /** PEM certificates of a private authority's server; empty for public ones. */
  readonly ca: string;
  /** Account key in PEM. */
  readonly key: string;
  readonly signal: AbortSignal;
}

/** Binding to an account outside of ACME (RFC 8555, 7.3.4). */
export interface ExternalAccount {
  readonly keyId: string;
  /** Base64url, as authorities show it. */
  readonly hmacKey: string;
}

/** Client of the ACME protocol (RFC 8555) for one account. Failures are {@link CertificateFailure}. */
export class AcmeClient {
  readonly #context: Pick<Context, 'fetch' | 'clock'>;
  readonly #options: ClientOptions;
  readonly #host: string;
  readonly #nonces: string[] = [];
  #directory: Directory | undefined;
  #accountUrl: string | undefined;

  constructor(context: Pick<Context, 'fetch' | 'clock'>, options: ClientOptions, accountUrl?: string) {
    this.#context = context;
    this.#options = options;
    this.#host = new URL(options.directoryUrl).host;
    this.#accountUrl = accountUrl;
  }

  /** Reads the directory, and compares this computer's clock with that of the authority. */
  async open(): Promise<Directory> {
    const reply = await this.#send(this.#options.directoryUrl, {});
    if (reply.status !== 200) throw toAuthorityError(this.#host, reply, this.#context.clock.now());
    const time = Date.parse(reply.headers['date'] ?? '');
    if (Math.abs(time - this.#context.clock.now()) > maxClockDifferenceMs)
      throw new CertificateFailure('acme.clock', { host: this.#host, reason: new Date(time).toISOString() });
    this.#directory = this.#parse(Directory, parseReply(reply));
    return this.#directory;
  }

  /** Registers the account key, or finds its account. Returns the address of the account. */
  async register(email: string, external: ExternalAccount | undefined): Promise<string> {
    const { newAccount, meta } = this.#getDirectory();
    if (meta?.externalAccountRequired === true && external === undefined)
      throw new CertificateFailure('acme.external_account', { host: this.#host });
    const payload = {
      termsOfServiceAgreed: true,
      ...(email === '' ? {} : { contact: [`mailto:${email}`] }),
      ...(external === undefined ? {} : { externalAccountBinding: await this.#bind(newAccount, external) }),
    };
    this.#accountUrl = undefined;
    const reply = await this.#post(newAccount, payload);
    const { status } = this.#parse(Account, parseReply(reply));
    const url = this.#getLocation(reply);
    if (status !== 'valid')
      throw new AuthorityError('acme.account', 'unauthorized', { host: this.#host, reason: status });
    this.#accountUrl = url;
    return url;
  }

  /** Creates an order and returns its address. */
  async createOrder(names: readonly string[]): Promise<{ readonly url: string; readonly order: Order }> {
    const identifiers = names.map((value) => ({ type: 'dns', value }));
    const reply = await this.#post(this.#getDirectory().newOrder, { identifiers });
    return { url: this.#getLocation(reply), order: this.#parse(Order, parseReply(reply)) };
  }

  async getOrder(url: string): Promise<Order> {
    return this.#parse(Order, parseReply(await this.#post(url)));
  }

  async getAuthorization(url: string): Promise<Authorization> {
    return this.#parse(Authorization, parseReply(await this.#post(url)));
  }

  /** Tells the authority to validate a challenge. */
  async respond(url: string): Promise<void> {
    await this.#post(url, {});
  }

  /** Sends the certificate request of an order. */
  async finalize(order: Order, request: Buffer): Promise<Order> {
    const reply = await this.#post(order.finalize, { csr: request.toString('base64url') });
    return this.#parse(Order, parseReply(reply));
  }

  /** Downloads the chain of a valid order in PEM. */
  async download(url: string): Promise<string> {
    return Buffer.from((await this.#post(url)).body).toString('utf8');
  }

  /** Returns the text that proves control of the account key (RFC 8555, 8.1). */
  async getKeyAuthorization(token: string): Promise<string> {
    const { calculateJwkThumbprint } = await import('jose');
    return `${token}.${await calculateJwkThumbprint(getPublicJwk(this.#options.key))}`;
  }

  /** Host of the authority, for messages. */
  get host(): string {
    return this.#host;
  }

  async #bind(url: string, { keyId, hmacKey }: ExternalAccount): Promise<unknown> {
    const { FlattenedSign } = await import('jose');
    const jwk = Buffer.from(JSON.stringify(getPublicJwk(this.#options.key)));
    const sign = new FlattenedSign(new Uint8Array(jwk)).setProtectedHeader({ alg: 'HS256', kid: keyId, url });
    return sign.sign(new Uint8Array(Buffer.from(hmacKey, 'base64')));
  }

  /** Sends a signed request; without a payload, it reads the resource (RFC 8555, 6.3). */
  async #post(url: string, payload?: unknown): Promise<FetchReply> {
    for (let retries = 0; ; retries += 1) {
      const body = JSON.stringify(await this.#sign(url, payload));
      const reply = await this.#send(url, { method: 'POST', body });
      if (reply.status < 400) return reply;
      const error = toAuthorityError(this.#host, reply, this.#context.clock.now());
      if (error.type !== 'badNonce' || retries >= maxNonceRetries) throw error;
    }
  }

  async #sign(url: string, payload: unknown): Promise<unknown> {
    const { FlattenedSign } = await import('jose');
    const text = payload === undefined ? '' : JSON.stringify(payload);
    const identity =
      this.#accountUrl === undefined ? { jwk: getPublicJwk(this.#options.key) } : { kid: this.#accountUrl };
    const sign = new FlattenedSign(new Uint8Array(Buffer.from(text)));
    sign.setProtectedHeader({ alg: 'ES256', nonce: await this.#takeNonce(), url, ...identity });
    return sign.sign(createPrivateKey(this.#options.key));
  }

  async #takeNonce(): Promise<string> {
    if (this.#nonces.length === 0) {
      const reply = await this.#send(this.#getDirectory().newNonce, { method: 'HEAD' });
      if (reply.status >= 400) throw toAuthorityError(this.#host, reply, this.#context.clock.now());
    }
    const nonce = this.#nonces.pop();
    if (nonce === undefined) throw new CertificateFailure('acme.bad_reply', { host: this.#host });
    return nonce;
  }

  async #send(url: string, { method = 'GET', body }: { method?: string; body?: string }): Promise<FetchReply> {
    const { ca, isOwnAuthority, signal } = this.#options;
    // The directory of the owner's authority must not lead to other computers of the network.
    const isOwn = isOwnAuthority && new URL(url).host === this.#host;
    try {
      const reply = await this.#context.fetch(url, {
        method,
        signal,
        timeoutMs,
        headers: { ...requestHeaders, ...(body === undefined ? {} : { 'Content-Type': 'application/jose+json' }) },
        ...(body === undefined ? {} : { body }),
        trust: isOwn ? 'owner' : 'other',
        ...(isOwn && ca !== '' ? { ca } : {}),
      });
      const nonce = reply.headers['replay-nonce'];
      if (nonce !== undefined && /^[A-Za-z0-9_-]{1,512}$/.test(nonce)) this.#nonces.push(nonce);
      return reply;
    } catch (error) {
      if (signal.aborted) throw error;
      throw toConnectionFailure(this.#host, error);
    }
  }

  #getDirectory(): Directory {
    if (this.#directory === undefined) throw new Error('The directory was not opened');
    return this.#directory;
  }

  #getLocation({ headers, url }: FetchReply): string {
    const location = URL.parse(headers['location'] ?? '', url)?.href;
    if (location === undefined) throw new CertificateFailure('acme.bad_reply', { host: this.#host });
    return location;
  }

  #parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    throw new CertificateFailure('acme.bad_reply', { host: this.#host }, { cause: result.error });
  }

  /** Builds the failure of a challenge or order. */
  explain(error: { readonly type: string; readonly detail: string }): AuthorityError {
    return buildAuthorityError(this.#host, error);
  }
}
