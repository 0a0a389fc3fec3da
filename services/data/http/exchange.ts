import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KeyRole } from '../keys/keys.ts';

/** One request that passed the gate, for the part of the service below whose prefix it came. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Below the prefix, as it was sent: `/token`; `/` where nothing follows. */
  readonly path: string;
  /** As it was sent, without the question mark. */
  readonly query: string;
  /** Whose key came along; undefined on paths that are open without one. */
  readonly keyRole: KeyRole | undefined;
}

/** A part of the service, plugged in at a prefix. */
export interface Part {
  /** `/auth/v1`. */
  readonly prefix: string;
  /** Paths below the prefix that people open in browsers, without a key. */
  isOpen?(path: string): boolean;
  /** Answers in its own error shape; what it throws nonetheless is answered as 500. */
  handle(exchange: Exchange): Promise<void>;
}
