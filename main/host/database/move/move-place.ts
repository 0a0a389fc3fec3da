import type { Migration } from '../../../../services/contracts/service.ts';
import type { MoveSide } from './move-side.ts';

/** Exclusive access to the databases of one side, until the disposal. */
export interface MoveLock extends AsyncDisposable {
  /** Rejects when the access was lost, and hosts may have started on the databases. */
  verify(): Promise<void>;
}

/** Databases of all services on one side of a move. */
export interface MovePlace {
  /**
   * Prevents other moves and the start of hosts until the disposal.
   * @throws Problem `database.in_use` (409) while a host or another move uses the databases, `database.move_after_crash`
   * (409) when a host must first complete its tables
   */
  lock(): Promise<MoveLock>;
  /** Returns whether the database of a service exists. */
  exists(id: string): Promise<boolean>;
  /** Creates the database of a service if it is missing, and runs the steps that are missing there. */
  migrate(id: string, steps: readonly Migration[]): Promise<void>;
  open(id: string, options: { readonly readOnly: boolean }): Promise<MoveSide>;
  /** Returns whether a move to this place was interrupted. */
  isIncomplete(): Promise<boolean>;
  /** Marks the move to this place as complete, so that hosts can start. */
  complete(): Promise<void>;
  /** Renames the databases, so that no host uses them any longer. */
  setAside(ids: readonly string[]): Promise<void>;
}

/** Name of the host's own database. */
export const hostDatabase = 'host';

/** Returns the end of the name of a database that was set aside. */
export function getAsideSuffix(): string {
  return `moved_${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').toLowerCase()}`;
}
