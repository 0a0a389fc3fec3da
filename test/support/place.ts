import type { Log } from '../../services/contracts/service.ts';

/** Where a database is, so that a second connection or another process can open the same one. */
export interface Place {
  readonly folder: string;
  readonly schema: string;
  readonly url?: string;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
