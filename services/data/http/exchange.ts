import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Reply } from '../../kit/http/respond.ts';
import type { KeyRole } from '../keys/keys.ts';

/** Request with a valid API key or for an open path, for the API with its prefix. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Raw path below the prefix: `/token`; `/` when nothing follows. */
  readonly path: string;
  /** Raw query string without the question mark. */
  readonly query: string;
  /** Role of the API key; undefined on paths that need no key. */
  readonly keyRole: KeyRole | undefined;
}

/** API of this service, mounted at a path prefix. */
export interface MountedApi {
  /** Path prefix such as `/auth/v1`. */
  readonly prefix: string;
  /** Returns true for paths below the prefix that browsers open without an API key. */
  isOpen?(path: string): boolean;
  /** Handles a request. */
  handle(exchange: Exchange): Promise<Reply>;
  /**
   * Renders what `handle` threw in the format of the API; undefined leaves it to the listener. Not called for clients
   * that disconnected.
   */
  renderError?(error: unknown, exchange: Exchange): Reply | undefined;
}
