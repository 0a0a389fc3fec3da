import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Identity } from './control/accounts.ts';
import type { Rights, RouteAccess } from './route-access.ts';

/** Error response of the app API; `fields` holds messages by field path. */
export const ApiError = z
  .object({
    error: z.object({
      code: z.string().describe('Stable code with dots, such as `api.invalid`.'),
      detail: z.string().describe('Human-readable message.'),
      fields: z.record(z.string(), z.string()).optional(),
    }),
  })
  .meta({ id: 'ApiError' });
export type ApiError = z.infer<typeof ApiError>;

/**
 * Reply of a handler that sends a file instead of JSON, for routes whose reply is {@link fileReply}. The router
 * answers range requests.
 */
export class FileReply {
  /** Absolute path of a regular file that the caller may read. */
  readonly path: string;
  /** Media type. Scripts in the file are never executed. */
  readonly type: string;
  /** File name of a download; undefined displays the file instead. */
  readonly saveAs: string | undefined;
  /** Cache lifetime in the browser, in seconds. */
  readonly maxAge: number;
  /** Called once when the response no longer reads the file, however it ended. */
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

/** Like {@link FileReply}, for content that is not a file and small enough to be held in memory. */
export class BytesReply {
  readonly bytes: Uint8Array;
  /** Media type. Scripts in the content are never executed. */
  readonly type: string;
  /** File name of a download; undefined displays the content instead. */
  readonly saveAs: string | undefined;

  constructor(options: { bytes: Uint8Array; type: string; saveAs?: string | undefined }) {
    this.bytes = options.bytes;
    this.type = options.type;
    this.saveAs = options.saveAs;
  }
}

/** Opened content of a {@link StreamReply}. */
export interface OpenedStream {
  /** 200, 206 for a range, or 416. */
  readonly status: number;
  /** Headers of the range and of the length. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

/** Like {@link FileReply}, for content that another program sends, which also answers range requests. */
export class StreamReply {
  /** Opens the content, or the range that the header `Range` names. */
  readonly open: (range: string | undefined) => Promise<OpenedStream>;
  /** Media type. Scripts in the content are never executed. */
  readonly type: string;
  /** File name of a download; undefined displays the content instead. */
  readonly saveAs: string | undefined;

  constructor(options: { open: StreamReply['open']; type: string; saveAs?: string | undefined }) {
    this.open = options.open;
    this.type = options.type;
    this.saveAs = options.saveAs;
  }
}

/** Reply schema of routes that send a stored file, bytes in memory or a stream. */
export const fileReply = z
  .union([z.instanceof(FileReply), z.instanceof(BytesReply), z.instanceof(StreamReply)])
  .meta({ description: 'The file. Range requests are supported.' });

/** HTTP methods of the app API. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Route of the app API, declared as data. The server's parser, the typed client of the pages and the OpenAPI page
 * read the same declaration.
 */
export interface ApiRoute<Query, Body, Reply> {
  readonly method: Method;
  /** Express notation below `/api`, e.g. `/api/inbox/:id`. Path parameters are strings. */
  readonly path: string;
  /** Summary for the API reference, as one sentence. */
  readonly summary: string;
  readonly access: RouteAccess;
  /** Sessions that must enrol a required second factor may use the route as well. */
  readonly duringEnrollment?: true;
  readonly query?: z.core.$ZodType<Query>;
  readonly body?: z.core.$ZodType<Body>;
  /** The body is a byte stream of any length instead of JSON; the handler reads and limits it. */
  readonly bytes?: true;
  readonly reply: z.core.$ZodType<Reply>;
}

/** Validated request as a route handler receives it. */
export interface ApiRequest<Query, Body> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** On routes with a byte body: the request, its body unread. */
  readonly incoming?: IncomingMessage;
  /** Undefined on public routes and for calls by the host itself. */
  readonly identity: Identity | undefined;
  /** Rights of the caller, for routes that check access object by object. */
  readonly rights: Rights;
  readonly remoteAddress: string;
  readonly userAgent: string;
  /** Header `Origin`, already checked by the listener. Browsers send it with every request that changes something. */
  readonly origin?: string | undefined;
  /**
   * Registers a function that is called when the client disconnects before the response is complete. A client that
   * has only stopped sending gets another 30 seconds.
   */
  onLeave(listener: () => void): void;
  addHeader(name: string, value: string): void;
}

/** Route together with the function that answers it. */
export interface ApiHandler {
  readonly route: ApiRoute<any, any, any>;
  handle(request: ApiRequest<any, any>): Promise<unknown>;
}

/** Returns the route unchanged, with its types inferred from its schemas. */
export function defineRoute<Reply, Query = undefined, Body = undefined>(
  route: ApiRoute<Query, Body, Reply>,
): ApiRoute<Query, Body, Reply> {
  return route;
}

/** Binds a route to its handler; TypeScript checks query, body and reply against the route's schemas. */
export function implement<Query, Body, Reply>(
  route: ApiRoute<Query, Body, Reply>,
  handle: (request: ApiRequest<Query, Body>) => Promise<Reply> | Reply,
): ApiHandler {
  return { route, handle: async (request) => handle(request) };
}
