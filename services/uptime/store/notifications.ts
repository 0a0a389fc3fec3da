import * as m from '#messages/uptime-problems';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { toDeliveryUrls } from '../domain/kuma-notification.ts';
import type { Tables } from './tables.ts';

const purpose = 'uptime.notification';
/** Lowest ID. Imported monitors refer to notifications of another installation, which have small IDs. */
const firstId = 1001;

/** Notification that a client of Uptime Kuma configured; all fields belong to the client. */
export interface KumaNotification {
  readonly id: number;
  readonly config: Readonly<Record<string, unknown>>;
}

/** Stores the notifications of Uptime Kuma clients, which exist in addition to the destinations of Delivery. */
export class Notifications {
  readonly #context: Pick<Context, 'db' | 'commit' | 'vault'>;
  readonly #notifications = new Map<number, KumaNotification>();

  constructor(context: Pick<Context, 'db' | 'commit' | 'vault'>) {
    this.#context = context;
  }

  async start(): Promise<void> {
    const db: Kysely<Tables> = this.#context.db;
    const rows = await db.selectFrom('notifications').selectAll().orderBy('id').execute();
    this.#notifications.clear();
    for (const { id, sealed } of rows) {
      const config = JSON.parse(this.#context.vault.open(sealed, purpose)) as KumaNotification['config'];
      this.#notifications.set(id, { id, config });
    }
  }

  all(): readonly KumaNotification[] {
    return [...this.#notifications.values()];
  }

  /** Returns the default notifications of new monitors. */
  defaults(): Readonly<Record<string, true>> {
    const enabled = this.all().filter(({ config }) => config['isDefault'] === true);
    return Object.fromEntries(enabled.map(({ id }) => [String(id), true as const]));
  }

  /** Returns the Delivery URLs of the notifications that a monitor lists (`{"1001": true}`). */
  urlsFor(names: unknown): readonly string[] {
    if (typeof names !== 'object' || names === null) return [];
    return Object.entries(names).flatMap(([id, isOn]) => {
      const notification = isOn === true ? this.#notifications.get(Number(id)) : undefined;
      return notification === undefined || notification.config['active'] === false
        ? []
        : toDeliveryUrls(notification.config);
    });
  }

  /**
   * Adds a notification, or changes the one with an ID.
   * @throws Problem for an unsupported type or an unknown ID
   */
  async put(config: KumaNotification['config'], id?: number): Promise<number> {
    toDeliveryUrls(config);
    if (id !== undefined && !this.#notifications.has(id)) throw createUnknownNotificationProblem();
    const number = id ?? Math.max(firstId - 1, ...this.#notifications.keys()) + 1;
    const row = { id: number, sealed: this.#context.vault.seal(JSON.stringify(config), purpose) };
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction.deleteFrom('notifications').where('id', '=', number).execute();
      await transaction.insertInto('notifications').values(row).execute();
    });
    this.#notifications.set(number, { id: number, config });
    return number;
  }

  async remove(id: number): Promise<void> {
    if (!this.#notifications.has(id)) throw createUnknownNotificationProblem();
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction.deleteFrom('notifications').where('id', '=', id).execute();
    });
    this.#notifications.delete(id);
  }
}

function createUnknownNotificationProblem(): Problem {
  return new Problem('uptime.unknown_notification', 404, m.notificationNotFound());
}
