import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { hasScope, type ScopeCategory, type Visitor } from '../sign-in/visitor.ts';

/** A request to the API. */
export interface Call {
  readonly request: IncomingMessage;
  readonly method: string;
  readonly query: URLSearchParams;
  readonly visitor: Visitor;
  /** Decoded parts of the path by the names that the route gives them. */
  readonly params: Readonly<Record<string, string>>;
  /** What absolute addresses of the answer begin with, e.g. `http://127.0.0.1:3030`. */
  readonly base: string;
}

/** What is answered; without `json`, `text` and `stream` nothing but the status. */
export interface Answer {
  readonly status: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string | number>>;
  /** Writes the body itself, and resolves when it is out. */
  readonly send?: (response: ServerResponse) => Promise<void>;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/api/v1`: `:name` is one part, `*name` as many as there are. */
  readonly path: string;
  /** What a limited token must be good for. */
  readonly scope: ScopeCategory;
  /** Without an account there is no answer. */
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

/** The account of a call on a route for accounts alone. */
export function accountOf({ visitor }: Pick<Call, 'visitor'>): string {
  return needIdentity(visitor).account;
}

export function needIdentity({ identity }: Visitor) {
  if (identity === undefined) throw new Problem('git.sign_in', 401, 'token is required');
  return identity;
}

/** @throws Problem (403) for all but administrators */
export function needAdmin({ visitor }: Pick<Call, 'visitor'>): void {
  if (needIdentity(visitor).role !== 'admin') throw new Problem('git.forbidden', 403, 'user should be the site admin');
}

/** @throws Problem (403) when the token is limited to something else. */
export function checkScope({ visitor, method }: Pick<Call, 'visitor' | 'method'>, category: ScopeCategory): void {
  const level = method === 'GET' || method === 'HEAD' ? 'read' : 'write';
  if (hasScope(visitor, level, category)) return;
  const held = JSON.stringify(visitor.scopes ?? []).replaceAll('"', '');
  const detail = `token does not have at least one of required scope(s), required=[${level}:${category}], token scope=${held.slice(1, -1)}`;
  throw new Problem('git.scope', 403, detail);
}

const largestBody = 96 * 1024 * 1024;

/** The body as JSON of this shape; what it says too much is left out. @throws Problem (422) in the peer's words. */
export async function bodyOf<Schema extends z.ZodType>(
  { request }: Pick<Call, 'request'>,
  schema: Schema,
): Promise<z.infer<Schema>> {
  const text = (await bytesOf(request, largestBody)).toString('utf8');
  let given: unknown;
  try {
    given = text.trim() === '' ? {} : JSON.parse(text);
  } catch (cause) {
    throw new Problem('git.bad_json', 422, `[]: ${cause instanceof Error ? cause.message : 'invalid JSON'}`, { cause });
  }
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  throw new Problem('git.invalid', 422, read.error.issues.map(complaint).join('; '));
}

/** All bytes of a body. @throws Problem (413) */
export async function bytesOf(stream: Readable, most: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stream as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > most) throw new Problem('git.too_large', 413, 'The request body is too large.');
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
function complaint(issue: z.core.$ZodIssue): string {
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

/** A text that must be there. */
export const required = z.string().trim().min(1, 'Required');
/** A member that clients leave out or send as null. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}
