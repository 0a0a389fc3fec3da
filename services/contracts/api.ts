import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Identity } from './control/accounts.ts';
import type { Rights, RouteAccess } from './route-access.ts';

/** What our own API answers when a call fails; `fields` holds messages by the path of the field they are about. */
export const ApiError = z
  .object({
    error: z.object({
      code: z.string().describe('Stable and dotted, e.g. `api.invalid`.'),
      detail: z.string().describe('A sentence for a person.'),
      fields: z.record(z.string(), z.string()).optional(),
    }),
  })
  .meta({ id: 'ApiError' });
export type ApiError = z.infer<typeof ApiError>;

/** What a handler answers in place of JSON on a route whose reply is {@link fileReply}; ranges are the router's work. */
export class FileReply {
  /** Absolute path of a regular file that the caller may see. */
  readonly path: string;
  /** Its media type. Whatever it is, it is shown without scripts. */
  readonly type: string;
  /** To be saved under this name in place of being shown. */
  readonly saveAs: string | undefined;
  /** For how long the browser may keep it, s. */
  readonly maxAge: number;
  /** Called once nobody reads the file any more for this reply, however that ended. */
  readonly sent: (() => void) | undefined;

  constructor(options: {
    path: string;
    type: string;
    saveAs?: string | undefined;
    maxAge?: number;
    sent?: () => void;
  }) {
    this.path = options.path;
    this.type = options.type;
    this.saveAs = options.saveAs;
    this.maxAge = options.maxAge ?? 0;
    this.sent = options.sent;
  }
}

/** As {@link FileReply}, for what is no file of its own and small enough to be held. */
export class BytesReply {
  readonly bytes: Uint8Array;
  /** Its media type. Whatever it is, it is shown without scripts. */
  readonly type: string;
  /** To be saved under this name in place of being shown. */
  readonly saveAs: string | undefined;

  constructor(options: { bytes: Uint8Array; type: string; saveAs?: string | undefined }) {
    this.bytes = options.bytes;
    this.type = options.type;
    this.saveAs = options.saveAs;
  }
}

export const fileReply = z
  .union([z.instanceof(FileReply), z.instanceof(BytesReply)])
  .meta({ description: 'The file itself; ranges are served.' });

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * One route of our own API, declared as data: the server's parser, the renderer's typed client and the OpenAPI page all
 * read this, so they cannot drift.
 */
export interface ApiRoute<Query, Body, Reply> {
  readonly method: Method;
  /** Express notation below `/api`, e.g. `/api/inbox/:id`. Path parameters are strings. */
  readonly path: string;
  /** One sentence for the API's page. */
  readonly summary: string;
  readonly access: RouteAccess;
  readonly query?: z.core.$ZodType<Query>;
  readonly body?: z.core.$ZodType<Body>;
  /** The body is bytes of any kind and length, in place of JSON: the handler reads and bounds them. */
  readonly bytes?: true;
  readonly reply: z.core.$ZodType<Reply>;
}

export interface ApiRequest<Query, Body> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** On routes that take bytes: the request, its body unread. */
  readonly incoming?: IncomingMessage;
  /** Undefined on public routes, and where the host itself asks in the process. */
  readonly identity: Identity | undefined;
  /** What the caller may see and change, for routes that answer object by object. */
  readonly rights: Rights;
  readonly remoteAddress: string;
  readonly userAgent: string;
  /** The header `Origin`, which the listener has checked: browsers send it with whatever changes something. */
  readonly origin?: string | undefined;
  /** Calls this when the client goes away before it has the whole answer; one that only stops sending is given half a minute. */
  onLeave(listener: () => void): void;
  /** Sets a response header. */
  setHeader(name: string, value: string): void;
}

export interface ApiHandler {
  readonly route: ApiRoute<any, any, any>;
  handle(request: ApiRequest<any, any>): Promise<unknown>;
}

export function defineRoute<Reply, Query = undefined, Body = undefined>(
  route: ApiRoute<Query, Body, Reply>,
): ApiRoute<Query, Body, Reply> {
  return route;
}

/** Binds a route to its code; TypeScript checks query, body and reply against the route's schemas. */
export function implement<Query, Body, Reply>(
  route: ApiRoute<Query, Body, Reply>,
  handle: (request: ApiRequest<Query, Body>) => Promise<Reply> | Reply,
): ApiHandler {
  return { route, handle: async (request) => handle(request) };
}
