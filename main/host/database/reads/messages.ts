/** A statement for the read thread, on the database in this file. One at a time. */
export interface ReadRequest {
  readonly read: number;
  readonly file: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

export type ToReader =
  | ReadRequest
  /** The next part of what was read. */
  | { readonly more: number }
  /** Lets go of a database; answered by `closed`. */
  | { readonly close: string };

/** A part of the rows; the thread holds the next one back until it is asked for. */
export interface ReadPart {
  readonly read: number;
  readonly rows: readonly Record<string, unknown>[];
  readonly last: boolean;
}

export interface ReadFailure {
  readonly read: number;
  readonly message: string;
  /** SQLite's, or `too_large`, `not_a_read`. */
  readonly code: string;
}

export type FromReader = ReadPart | ReadFailure | { readonly closed: string };

/** What the thread is started with: a number of the read that nobody waits for any more, looked at between rows. */
export interface ReaderData {
  readonly abandoned: Int32Array;
}

/** Bytes of values that one read may bring, about. Lists are read in pages. */
export const largestRead = 32 * 1024 * 1024;
