import type { Log } from '../../services/contracts/service.ts';

/** Location of a database, so that a second connection or process can open the same one. */
export interface DatabaseLocation {
  readonly folder: string;
  readonly schema: string;
  readonly url?: string;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
