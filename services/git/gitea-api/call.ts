import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { hasScope, type ScopeCategory, type Caller } from '../sign-in/caller.ts';
import { parseJsonOrThrow } from '../../contracts/parse-json.ts';

/** A request to the API. */
export interface Call {
  readonly request: IncomingMessage;
  readonly method: string;
  readonly query: URLSearchParams;
  readonly caller: Caller;
  /** Decoded path parameters by the names of the route. */
  readonly params: Readonly<Record<string, string>>;
  /** Base of absolute URLs in the response, e.g. `http://127.0.0.1:3030`. */
  readonly base: string;
}

/** Response of a route; without `json`, `text` and `send` it has no body. */
export interface Answer {
  readonly status: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string | number>>;
  /** Writes the body and resolves when all of it was sent. */
  readonly send?: (response: ServerResponse) => Promise<void>;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path below `/api/v1`, in the syntax of `RoutePattern`. */
  readonly path: string;
  /** Scope that a limited token needs. */
  readonly scope: ScopeCategory;
  /** Answers 401 to clients without an account. */
  readonly signedIn?: boolean;
  readonly handle: (call: Call) => Promise<Answer>;
}

/** Builds a route that clients without an account may call as well. */
export function route(method: Route['method'], path: string, scope: Route['scope'], handle: Route['handle']): Route {
  return { method, path, scope, handle };
}

/** Builds a route for accounts: without one the answer is 401. */
export function signedInRoute(
  method: Route['method'],
  path: string,
  scope: Route['scope'],
  handle: Route['handle'],
): Route {
  return { method, path, scope, signedIn: true, handle };
}

export function ok(json: unknown, headers?: Answer['headers']): Answer {
  return { status: 200, json, ...(headers === undefined ? {} : { headers }) };
}

export const created = (json: unknown): Answer => ({ status: 201, json });
export const noContent: Answer = { status: 204 };

/** Returns the account of a call. @throws Problem (401) without an account */
export function getAccount({ caller }: Pick<Call, 'caller'>): string {
  return requireIdentity(caller).account;
}

export function requireIdentity({ identity }: Caller) {
  if (identity === undefined) throw new Problem('git.sign_in', 401, 'token is required');
  return identity;
}

/** @throws Problem (403) unless the caller is an administrator */
export function requireAdmin({ caller }: Pick<Call, 'caller'>): void {
  if (requireIdentity(caller).role !== 'admin')
    throw new Problem('git.forbidden', 403, 'user should be the site admin');
}

/** @throws Problem (403) when the token lacks the scope */
export function checkScope({ caller, method }: Pick<Call, 'caller' | 'method'>, category: ScopeCategory): void {
  const level = method === 'GET' || method === 'HEAD' ? 'read' : 'write';
  if (hasScope(caller, level, category)) return;
  const scopes = JSON.stringify(caller.scopes ?? []).replaceAll('"', '');
  const detail =
    `token does not have at least one of required scope(s), required=[${level}:${category}], ` +
    `token scope=${scopes.slice(1, -1)}`;
  throw new Problem('git.scope', 403, detail);
}

const maxJsonBodyBytes = 96 * 1024 * 1024;

/** Reads the body as JSON and validates it; unknown members are dropped. @throws Problem (422) in the form of Gitea */
export async function readJsonBody<Schema extends z.ZodType>(
  { request }: Pick<Call, 'request'>,
  schema: Schema,
): Promise<z.infer<Schema>> {
  const text = (await readBytes(request, maxJsonBodyBytes)).toString('utf8');
  const toError = (cause: unknown): Problem =>
    new Problem('git.bad_json', 422, `[]: ${cause instanceof Error ? cause.message : 'invalid JSON'}`, { cause });
  const parsed = schema.safeParse(text.trim() === '' ? {} : parseJsonOrThrow(text, toError));
  if (parsed.success) return parsed.data;
  throw new Problem('git.invalid', 422, parsed.error.issues.map(formatIssue).join('; '));
}

/** Reads a stream to its end. @throws Problem (413) when it is longer than the maximum */
export async function readBytes(stream: Readable, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stream as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBytes) throw new Problem('git.too_large', 413, 'The request body is too large.');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Parameter of a custom issue with a message that already names its field, or that names none in Gitea. */
const completeMessage = 'completeMessage';
/** Adds an issue with a message that is sent unchanged. */
export function addCompleteIssue(context: z.RefinementCtx, message: string): void {
  context.addIssue({ code: 'custom', message, params: { [completeMessage]: true } });
}

/** Formats a validation error as Gitea does: `[Title]: Required`. */
function formatIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'custom' && issue.params?.[completeMessage] === true) return issue.message;
  const field = issue.path
    .map(String)
    .join('_')
    .split('_')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
  const isMissing = issue.code === 'invalid_type' && issue.input === undefined;
  return `[${field}]: ${isMissing ? 'Required' : issue.message}`;
}

/** Schema of a required text. */
export const required = z.string().trim().min(1, 'Required');
/** Makes a member optional, as clients omit it or send null. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}
