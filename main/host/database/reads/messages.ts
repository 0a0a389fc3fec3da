/** Statement for the read thread, on the database in this file. One at a time. */
export interface ReadRequest {
  readonly read: number;
  readonly file: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

export type ToReader =
  | ReadRequest
  /** Requests the next part of the rows. */
  | { readonly more: number }
  /** Closes a database; answered by `closed`. */
  | { readonly close: string };

/** Part of the rows; the thread sends the next one on request. */
export interface ReadPart {
  readonly read: number;
  readonly rows: readonly Record<string, unknown>[];
  readonly last: boolean;
}

export interface ReadFailure {
  readonly read: number;
  readonly message: string;
  /** SQLite's code, or `too_large`, `not_a_read`. */
  readonly code: string;
}

export type FromReader = ReadPart | ReadFailure | { readonly closed: string };

/** Data of the thread: shared number of the cancelled read, checked between rows. */
export interface ReaderData {
  readonly abandoned: Int32Array;
}

/** Approximate maximum size of a read in bytes. Lists are read in pages. */
export const maxReadBytes = 32 * 1024 * 1024;
