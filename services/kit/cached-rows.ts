import { eventsMissed, type Bus } from '../contracts/bus.ts';
import { rowsChanged } from '../contracts/rows-changed.ts';
import type { Log } from '../contracts/service.ts';
import { CoalescedRun } from './coalesced-run.ts';

/** Rows of a service, and how they are read. */
export interface CachedRowsOptions {
  readonly bus: Bus;
  readonly log: Log;
  /** `<service>.<rows>`, as in `push.rules`. */
  readonly rows: string;
  /** Reads the rows again. */
  readonly reload: () => Promise<void>;
}

/** Keeps rows that a service holds in memory current when several hosts share the database. */
export class CachedRows {
  readonly #options: CachedRowsOptions;

  constructor(options: CachedRowsOptions) {
    this.#options = options;
  }

  /** Reads the rows again after other hosts changed them, until it is disposed. */
  follow(): Disposable {
    const { bus, log, reload, rows } = this.#options;
    const reloads = new CoalescedRun(async () => {
      try {
        await reload();
      } catch (error) {
        log.warn('rows of another host could not be read', { rows, error });
      }
    });
    const resources = new DisposableStack();
    resources.defer(() => void reloads[Symbol.asyncDispose]());
    const reloadOwn = (event: { readonly rows: string }): void => {
      if (event.rows === rows) reloads.request();
    };
    resources.use(bus.subscribe(rowsChanged, reloadOwn, 'other hosts'));
    resources.use(bus.subscribe(eventsMissed, () => reloads.request()));
    return resources;
  }

  /** Notifies the other hosts. Call it after the commit. */
  readonly changed = (): void => {
    const { bus, rows } = this.#options;
    bus.publish(rowsChanged, { rows });
  };
}
