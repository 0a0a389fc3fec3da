import { sql, type Kysely } from 'kysely';
import { z } from 'zod';
import { defineTopic, eventsMissed, type Bus } from '../../../services/contracts/bus.ts';
import type { Clock, Log, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { CoalescedRun } from '../../../services/kit/coalesced-run.ts';
import { replacedKeyPart } from '../vault/replace-key.ts';

/** Published when a stored key of a service was replaced, since the service of each host holds it in memory. */
const storedKeyReplaced = defineTopic('host.key-replaced', z.object({ service: z.string() }), { shared: true });

/** Interval in which the tables are read: an event can be lost, and a command without a host sends none. */
const checkEveryMs = 5000;
/** PostgreSQL's code for a table that does not exist. */
const undefinedTable = '42P01';

/** Notifies all hosts that a stored key of a service was replaced. */
export function announceReplacedKey(bus: Bus, service: string): void {
  bus.publish(storedKeyReplaced, { service });
}

interface Runner {
  readonly descriptor: Pick<ServiceDescriptor, 'id' | 'keys'>;
  restart(): Promise<void>;
}

interface ReplacedKeysOptions {
  readonly database: { readonly kysely: Kysely<any>; readonly dialect: 'sqlite' | 'postgres' };
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly runners: ReadonlyMap<string, Runner>;
}

/**
 * Restarts services whose key another host or a command has replaced. Former keys remain in the table under another
 * name, by which a replacement is recognized. On SQLite no other host uses the tables.
 */
export class ReplacedKeys implements AsyncDisposable {
  readonly #options: ReplacedKeysOptions;
  /** Names of the former keys by service. */
  readonly #former = new Map<string, ReadonlySet<string>>();
  /** Services whose key this host has just replaced. They restart anyway. */
  readonly #own = new Set<string>();
  readonly #checks = new CoalescedRun(() => this.#check());
  readonly #resources = new AsyncDisposableStack();

  private constructor(options: ReplacedKeysOptions) {
    this.#options = options;
  }

  /** Reads the tables before the services start, and follows them until the disposal. */
  static async follow(options: ReplacedKeysOptions): Promise<ReplacedKeys> {
    const keys = new ReplacedKeys(options);
    if (options.database.dialect === 'postgres') await keys.#follow();
    return keys;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync();
  }

  async #follow(): Promise<void> {
    const { bus, clock } = this.#options;
    const request = (): void => this.#checks.request();
    this.#resources.use(this.#checks);
    this.#resources.use(clock.every(checkEveryMs, request));
    this.#resources.use(bus.subscribe(eventsMissed, request));
    this.#resources.use(bus.subscribe(storedKeyReplaced, request, 'other hosts'));
    this.#resources.use(bus.subscribe(storedKeyReplaced, ({ service }) => void this.#own.add(service), 'this host'));
    request();
    await this.#checks.settled();
  }

  async #check(): Promise<void> {
    for (const [id, runner] of this.#options.runners) {
      const { table, column = 'name' } = runner.descriptor.keys ?? {};
      if (table === undefined) continue;
      const names = await this.#readFormer(id, table, column);
      if (names === undefined) continue;
      const previous = this.#former.get(id);
      this.#former.set(id, names);
      const isOwn = this.#own.delete(id);
      if (previous === undefined || isOwn || [...names].every((name) => previous.has(name))) continue;
      this.#options.log.info('service restarted after its key was replaced', { service: id });
      void runner.restart();
    }
  }

  /** Returns the names of the former keys of a service, or undefined while they cannot be read. */
  async #readFormer(id: string, table: string, column: string): Promise<ReadonlySet<string> | undefined> {
    try {
      const { rows } = await sql<{ name: string }>`select ${sql.ref(column)} as name from ${sql.table(`${id}.${table}`)}
        where ${sql.ref(column)} like ${`%.${replacedKeyPart}%`}`.execute(this.#options.database.kysely);
      return new Set(rows.map(({ name }) => name));
    } catch (error) {
      // The service has never started.
      if (error instanceof Error && 'code' in error && error.code === undefinedTable) return new Set();
      this.#options.log.debug('replaced keys not readable', { service: id, error });
      return undefined;
    }
  }
}
