import * as m from '#messages/state';
import { untrack } from 'svelte';
import { z } from 'zod';
import { ApiError, type ApiRoute } from '../../../services/contracts/api.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { SuggestedAction } from '../../../services/contracts/health.ts';
import { requestHeaders } from './request-headers.ts';
import { sessionSecret } from './session-secret.ts';
import { parseJson } from '../../../services/contracts/parse-json.ts';
import { getLocale } from '../../../messages/language.ts';
import { markReplyWithTexts, recordReplyLanguage } from './reply-language.ts';

/** Parameters of a call; query fields that are undefined are left out. */
export interface CallOptions<Query, Body> {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: { readonly [Key in keyof Query]?: Query[Key] | undefined };
  readonly body?: Body;
  readonly signal?: AbortSignal;
  /**
   * The request is completed even when the page is closed; the browser limits the bodies of such requests to 64 KB in
   * total.
   */
  readonly keepalive?: boolean;
  /** The call is part of {@link renewSession}. */
  readonly isRenewal?: boolean;
}

type Listener = () => void;
/** Code of the host for paths without a route. */
const unknownPathCode = 'api.unknown_path';
/** Code of a reply that does not match its schema. */
const replyMismatchCode = 'page.reply';
let renewing: Promise<void> | undefined;
/** Code of the host for a session that must enrol a second factor first. */
const enrollmentCode = 'accounts.second_factor_required';
const sessionRefusedListeners = new Set<Listener>();
const enrollmentListeners = new Set<Listener>();

/**
 * Registers a listener for requests that were refused because the session ended. Returns a function that removes it.
 */
export function onSessionRefused(listener: Listener): Listener {
  sessionRefusedListeners.add(listener);
  return () => sessionRefusedListeners.delete(listener);
}

/**
 * Registers a listener for requests that were refused because the account must enrol a second factor first. Returns a
 * function that removes it.
 */
export function onEnrollmentRequired(listener: Listener): Listener {
  enrollmentListeners.add(listener);
  return () => enrollmentListeners.delete(listener);
}

/**
 * Makes a request that ends all sessions of the account and creates a new one. A request that is refused in the
 * meantime does not end the session of this page.
 */
export async function renewSession(request: () => Promise<{ readonly session: string }>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  renewing = promise;
  try {
    const { session } = await request();
    sessionSecret.store(session);
  } finally {
    renewing = undefined;
    resolve();
  }
}

/** Resolves when no session renewal is running. */
export async function waitForRenewal(): Promise<void> {
  await renewing;
}

/**
 * Calls a route of the app API and parses its reply.
 * @throws Problem as sent by the host; `page.offline` (status 0) when the host does not respond, `page.reply` when
 * the reply does not match the schema.
 */
export async function call<Query, Body, Reply>(
  route: ApiRoute<Query, Body, Reply>,
  options: CallOptions<Query, Body> = {},
): Promise<Reply> {
  const secret = sessionSecret.current();
  const locale = untrack(getLocale);
  const url = buildUrl(route.path, options.params, options.query);
  const { ok, status, text, hasTexts } = await send(route.method, url, options);
  if (route.method === 'GET') {
    recordReplyLanguage(route, hasTexts);
    // The language changed while the reply was on its way.
    if (hasTexts && locale !== getLocale()) return call(route, options);
  }
  const reply = parseJson(text);
  if (!ok) {
    if (status === 401 && route.access !== 'public') {
      if (options.isRenewal !== true) await waitForRenewal();
      if (sessionSecret.current() !== secret) return call(route, options);
      notifySessionRefused();
    }
    const problem = toProblem(status, reply);
    if (problem.code === enrollmentCode) for (const listener of enrollmentListeners) listener();
    throw problem;
  }
  const parsed = z.safeParse(route.reply, reply);
  if (parsed.success) {
    if (hasTexts && typeof parsed.data === 'object' && parsed.data !== null) markReplyWithTexts(parsed.data);
    return parsed.data;
  }
  throw new Problem(replyMismatchCode, 502, m.versionMismatch(), {
    cause: parsed.error,
  });
}

/**
 * Sends the request that a service defined for a button.
 * @throws Problem as {@link call} does.
 */
export async function postStep({ path, body }: NonNullable<SuggestedAction['post']>): Promise<void> {
  await call({ method: 'POST', path, summary: '', access: 'user', reply: z.unknown() }, { body });
}

interface RawReply {
  readonly ok: boolean;
  readonly status: number;
  readonly text: string;
  /** The host names a language, because the reply contains texts for the reader. */
  readonly hasTexts: boolean;
}

async function send(
  method: string,
  url: string,
  { body, signal, keepalive = false }: CallOptions<unknown, unknown>,
): Promise<RawReply> {
  try {
    const response = await fetch(url, {
      method,
      credentials: 'same-origin',
      keepalive,
      headers: { ...requestHeaders(), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
    // A response that ends before its body is complete counts as no response.
    const hasTexts = response.headers.has('Content-Language');
    return { ok: response.ok, status: response.status, text: await response.text(), hasTexts };
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new Problem('page.offline', 0, m.offline(), { cause });
  }
}

function buildUrl(path: string, params: Readonly<Record<string, string>> = {}, query: object = {}): string {
  const pathname = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, string | number | boolean | undefined][]) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  return search.size === 0 ? pathname : `${pathname}?${search.toString()}`;
}

/** Notifies the listeners that the session ended. */
export function notifySessionRefused(): void {
  for (const listener of sessionRefusedListeners) listener();
}

/** Converts an error reply of the host to a Problem. */
export function toProblem(status: number, reply: unknown): Problem {
  const parsed = ApiError.safeParse(reply);
  if (!parsed.success) return new Problem('page.status', status, m.requestFailed({ status }));
  const { code, detail, fields = {} } = parsed.data.error;
  // The app API only has the routes of running services, and the pages use no other routes.
  if (code === unknownPathCode) return new Problem(code, status, m.serviceNotRunning());
  return new Problem(code, status, detail, { fields });
}

/** Formats any thrown value as a sentence for the user. */
export function formatError(error: unknown): string {
  if (error instanceof Problem) return error.detail;
  return error instanceof Error ? error.message : m.unknownError();
}

/** Returns true when the requested object does not exist, was deleted, or is hidden from the account. */
export function isNotFound(error: unknown): boolean {
  return error instanceof Problem && (error.status === 404 || error.status === 410) && error.code !== unknownPathCode;
}

/** Returns true when the reply does not match this page, which is then of another version than the host. */
export function isVersionMismatch(error: unknown): boolean {
  return error instanceof Problem && error.code === replyMismatchCode;
}

/** Returns true when the text of an error is from the host, in the language that the page had at the time. */
export function hasHostText(error: unknown): boolean {
  return error instanceof Problem && !error.code.startsWith('page.') && error.code !== unknownPathCode;
}

/** Returns true for failures inside of the host, of which the log has the details. */
export function isHostFailure(error: unknown): boolean {
  return error instanceof Problem && error.status >= 500 && !isVersionMismatch(error);
}

/** Returns false for errors that the same request would cause again, such as a missing permission. */
export function isRetryable(error: unknown): boolean {
  if (!(error instanceof Problem)) return true;
  // A service that is not running may be started, and a host that does not respond may return.
  return error.retryable || error.status === 0 || error.status === 409 || error.code === unknownPathCode;
}
