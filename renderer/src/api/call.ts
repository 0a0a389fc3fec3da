import { z } from 'zod';
import { ApiError, type ApiRoute } from '../../../services/contracts/api.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { SuggestedAction } from '../../../services/contracts/health.ts';
import { sessionSecret } from './session-secret.ts';

/** What a call sends; query fields that are undefined are left out. */
export interface CallOptions<Query, Body> {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: { readonly [Key in keyof Query]?: Query[Key] | undefined };
  readonly body?: Body;
  readonly signal?: AbortSignal;
  /** Is carried out even when the page goes meanwhile; such bodies must stay below 64 KB together. */
  readonly keepalive?: boolean;
  /** It is what {@link renewSession} asks. */
  readonly renews?: boolean;
}

type Listener = () => void;
let renewing: Promise<void> | undefined;
const refusedListeners = new Set<Listener>();

/** Called when a request was refused because nobody is signed in any more. Returns the way to stop listening. */
export function onRefused(listener: Listener): Listener {
  refusedListeners.add(listener);
  return () => refusedListeners.delete(listener);
}

/**
 * Asks for what ends the sessions of this person and begins a new one. What the host refuses meanwhile, or is told of before
 * the answer has come, is not the end of this one.
 */
export async function renewSession(ask: () => Promise<{ readonly session: string }>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  renewing = promise;
  try {
    const { session } = await ask();
    sessionSecret.keep(session);
  } finally {
    renewing = undefined;
    resolve();
  }
}

/** Resolves when no new session is on its way. */
export async function sessionSettled(): Promise<void> {
  await renewing;
}

/**
 * Calls a route of our own API and parses its reply.
 * @throws Problem as the host rendered it; `page.offline` (status 0) when the host does not answer, `page.reply` when its answer
 *   does not fit this page.
 */
export async function call<Query, Body, Reply>(
  route: ApiRoute<Query, Body, Reply>,
  options: CallOptions<Query, Body> = {},
): Promise<Reply> {
  const secret = sessionSecret.current();
  const { ok, status, text } = await send(route.method, address(route.path, options.params, options.query), options);
  const reply = fromJson(text);
  if (!ok) {
    if (status === 401 && route.access !== 'public') {
      if (options.renews !== true) await sessionSettled();
      if (sessionSecret.current() !== secret) return call(route, options);
      tellRefused();
    }
    throw problemFrom(status, reply);
  }
  const parsed = z.safeParse(route.reply, reply);
  if (parsed.success) return parsed.data;
  throw new Problem('page.reply', 502, 'Homeport and this page do not fit together. Reload the page.', {
    cause: parsed.error,
  });
}

/** Takes a call of our own API that a service has written down for a button. @throws Problem as {@link call} does. */
export async function post({ path, body }: NonNullable<SuggestedAction['post']>): Promise<void> {
  await call({ method: 'POST', path, summary: '', access: 'user', reply: z.unknown() }, { body });
}

async function send(
  method: string,
  url: string,
  { body, signal, keepalive = false }: CallOptions<unknown, unknown>,
): Promise<{ readonly ok: boolean; readonly status: number; readonly text: string }> {
  try {
    const response = await fetch(url, {
      method,
      credentials: 'same-origin',
      keepalive,
      headers: { ...sessionSecret.headers(), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
    // A host that goes in the middle of its answer has not answered.
    return { ok: response.ok, status: response.status, text: await response.text() };
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new Problem('page.offline', 0, 'Homeport does not answer. Is it still running?', { cause });
  }
}

function address(path: string, params: Readonly<Record<string, string>> = {}, query: object = {}): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, string | number | boolean | undefined][]) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  return search.size === 0 ? filled : `${filled}?${search.toString()}`;
}

/** Tells that nobody is signed in any more. */
export function tellRefused(): void {
  for (const listener of refusedListeners) listener();
}

/** Undefined where it is none: a proxy may have answered in place of the host, and the status tells. */
export function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What the host says is wrong. */
export function problemFrom(status: number, reply: unknown): Problem {
  const parsed = ApiError.safeParse(reply);
  if (!parsed.success) return new Problem('page.status', status, `Homeport answered with status ${String(status)}.`);
  const { code, detail, fields = {} } = parsed.data.error;
  // The API has only the routes of running services, and this page asks for no others.
  if (code === 'api.unknown_path') return new Problem(code, status, 'This service is not running. Home says why.');
  return new Problem(code, status, detail, { fields });
}

/** A sentence for a person out of anything that was thrown. */
export function sentence(error: unknown): string {
  if (error instanceof Problem) return error.detail;
  return error instanceof Error ? error.message : 'Something went wrong on this page.';
}
