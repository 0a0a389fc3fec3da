import * as m from '#messages/addons-problems';
import { Problem } from '../../contracts/problem.ts';
import type { FetchReply } from '../../contracts/outgoing.ts';
import type { Context } from '../../contracts/service.ts';
import type { DebridService } from '../domain/debrid-services.ts';
import type { AddonMetrics } from '../metrics.ts';
import type { GuardedFetch } from '../upstream/guarded-fetch.ts';
import { getOperation, type ProviderHealthMonitor } from './provider-health.ts';
import { ProviderError } from '../domain/provider-error.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import { toRecord } from '../../contracts/is-record.ts';

const timeoutMs = 10_000;
const maxResponseBytes = 8 * 1024 * 1024;

export interface ProviderRequest {
  readonly method?: string;
  /** Path below the base address of the service, with query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: readonly (readonly [string, string])[];
  readonly json?: unknown;
  readonly body?: { readonly type: string; readonly bytes: Uint8Array | string };
  /** Replaces the base address of the service. */
  readonly baseUrl?: string;
  readonly timeoutMs?: number;
}

/** Response with parsed JSON. `json` is undefined when there is no body. */
export interface ProviderReply {
  readonly status: number;
  readonly headers: FetchReply['headers'];
  readonly json: unknown;
}

/** Reads the error of a response. Returns undefined for successful responses. */
export type FindProviderError = (reply: ProviderReply) => ProviderError | undefined;

export interface ProviderHttpClientOptions {
  readonly context: Context;
  readonly guardedFetch: GuardedFetch;
  readonly metrics: AddonMetrics;
  readonly health: ProviderHealthMonitor;
  readonly service: DebridService;
  readonly baseUrl: string;
  /** Fingerprint of the credential. */
  readonly credential: string;
}

/**
 * Sends the requests of a service. Updates its health and metrics, and converts every failure to a
 * {@link ProviderError}.
 */
export class ProviderHttpClient {
  readonly #options: ProviderHttpClientOptions;

  constructor(options: ProviderHttpClientOptions) {
    this.#options = options;
  }

  get baseUrl(): string {
    return this.#options.baseUrl;
  }

  get service(): DebridService {
    return this.#options.service;
  }

  /** Waits before the next poll of a service. */
  async pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    using _timer = this.#options.context.clock.after(ms, resolve);
    await promise;
  }

  async send(request: ProviderRequest, findError: FindProviderError): Promise<ProviderReply> {
    const { health, metrics, service, credential } = this.#options;
    const { id, name } = service;
    const healthCall = { id, name, credential, operation: getOperation(request.method ?? 'GET', request.path) };
    health.check(healthCall);
    const startedAt = performance.now();
    try {
      const reply = await this.#send(request);
      const responseError = findError(reply) ?? findStatusError(reply, name);
      if (responseError !== undefined) throw responseError;
      const ms = performance.now() - startedAt;
      health.recordSuccess(healthCall, ms);
      metrics.providerLatency.observe(ms / 1000, { provider: id });
      return reply;
    } catch (error) {
      const failure = error instanceof ProviderError ? error : toProviderError(error, name);
      health.recordFailure(healthCall, performance.now() - startedAt, failure);
      metrics.providerFailures.inc({ provider: id, reason: failure.code });
      throw failure;
    }
  }

  async #send(request: ProviderRequest): Promise<ProviderReply> {
    const { guardedFetch, baseUrl, service } = this.#options;
    const { method = 'GET', path, form, json, body } = request;
    const headers: Record<string, string> = { accept: 'application/json', ...request.headers };
    let bytes: Uint8Array | string | undefined;
    if (form !== undefined) {
      headers['content-type'] = 'application/x-www-form-urlencoded';
      bytes = new URLSearchParams(form.map(([name, value]) => [name, value])).toString();
    } else if (json !== undefined) {
      headers['content-type'] = 'application/json';
      bytes = JSON.stringify(json);
    } else if (body !== undefined) {
      headers['content-type'] = body.type;
      bytes = body.bytes;
    }
    const reply = await guardedFetch.fetch(`${(request.baseUrl ?? baseUrl).replace(/\/+$/, '')}${path}`, {
      method,
      headers,
      timeoutMs: request.timeoutMs ?? timeoutMs,
      maxBytes: maxResponseBytes,
      name: service.name,
      trust: 'owner',
      ...(bytes === undefined ? {} : { body: bytes }),
    });
    return { status: reply.status, headers: reply.headers, json: parseReply(reply.body, service.name) };
  }
}

function parseReply(body: Uint8Array, name: string): unknown {
  if (body.length === 0) return undefined;
  const parsed = parseJson(new TextDecoder().decode(body));
  if (parsed !== undefined) return parsed;
  return new ProviderError('BAD_GATEWAY', () => m.addonReturnedNoJson({ name }), { reason: 'malformed' });
}

/** Converts an HTTP status to an error. */
function findStatusError({ status, headers, json }: ProviderReply, name: string): ProviderError | undefined {
  if (status === 429) return createRateLimitError(name, headers['retry-after']);
  if (status === 401)
    return new ProviderError('UNAUTHORIZED', () => m.keyRejected({ name }), {
      reason: '401',
    });
  if (status === 402)
    return new ProviderError('PAYMENT_REQUIRED', () => m.paidPlanRequired({ name }), { reason: '402' });
  if (status === 403) return new ProviderError('FORBIDDEN', () => m.forbidden({ name }), { reason: '403' });
  if (status === 404) return new ProviderError('NOT_FOUND', () => m.notFound({ name }), { reason: '404' });
  if (status === 451)
    return new ProviderError('UNAVAILABLE_FOR_LEGAL_REASONS', () => m.legallyBlocked({ name }), { reason: '451' });
  if (status >= 500)
    return new ProviderError('SERVICE_UNAVAILABLE', () => m.addonInternalError({ name, status: String(status) }), {
      reason: String(status),
    });
  if (status >= 400)
    return new ProviderError('UNKNOWN', () => m.addonStatus({ name, status: String(status) }), {
      reason: String(status),
    });
  return json instanceof ProviderError ? json : undefined;
}

/** Builds the error for status 429, with the time from `Retry-After`. */
export function createRateLimitError(name: string, retryAfter?: string): ProviderError {
  const seconds = parseRetryAfter(retryAfter);
  return new ProviderError(
    'TOO_MANY_REQUESTS',
    () => (seconds === undefined ? m.rateLimited({ name }) : m.rateLimitedFor({ name, seconds })),
    {
      reason: '429',
      retryAfterMs: seconds === undefined ? undefined : seconds * 1000,
    },
  );
}

/** Parses `Retry-After`, which is a number of seconds or a date. */
function parseRetryAfter(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d{1,6}$/.test(retryAfter.trim())) return Number(retryAfter);
  const until = Date.parse(retryAfter);
  return Number.isNaN(until) ? undefined : Math.max(1, Math.ceil((until - Date.now()) / 1000));
}

function toProviderError(error: unknown, name: string): ProviderError {
  if (error instanceof Problem) {
    if (error.code === 'fetch.timeout')
      return new ProviderError('SERVICE_UNAVAILABLE', () => m.providerTimeout({ name }), { reason: 'timeout' });
    return new ProviderError('BAD_GATEWAY', () => m.addonUnreachable({ name, reason: error.detail }), {
      reason: error.code,
    });
  }
  return new ProviderError('UNKNOWN', () => m.addonRequestFailed({ name }), {
    reason: error instanceof Error ? error.name : '',
  });
}

export function toRecords(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map(toRecord) : [];
}
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}
export function toNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
/** Parses a date or a number of seconds. Returns milliseconds since the epoch. */
export function toTimestamp(value: unknown): number | undefined {
  if (typeof value === 'number') return value > 0 ? value * 1000 : undefined;
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
/** Builds the error for a response without the documented members. */
export function createMalformedError(name: string): ProviderError {
  return new ProviderError('BAD_GATEWAY', () => m.responseUnexpected({ name }), { reason: 'malformed' });
}
