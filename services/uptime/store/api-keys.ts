import * as m from '#messages/uptime-problems';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { ApiKey } from '../../contracts/uptime/views.ts';
import type { Tables } from './tables.ts';

/** Format of Uptime Kuma keys: `uk<id>_<40 characters>`. */
const keyFormat = /^uk(\d{1,10})_([A-Za-z0-9]{40})$/;

/** Stores API keys, with which programs use the service without an account. */
export class ApiKeys {
  readonly #context: Pick<Context, 'db' | 'commit' | 'clock' | 'random' | 'accounts'>;

  readonly #changed: () => void;

  constructor(
    context: Pick<Context, 'db' | 'commit' | 'clock' | 'random' | 'accounts'>,
    changed: () => void = () => undefined,
  ) {
    this.#context = context;
    this.#changed = changed;
  }

  async list(): Promise<ApiKey[]> {
    const db: Kysely<Tables> = this.#context.db;
    const rows = await db.selectFrom('api_keys').selectAll().orderBy('id').execute();
    return rows.map(({ id, name, created_at, expires, active }) => ({
      id,
      name,
      createdAt: created_at,
      expires,
      active: active === 1,
    }));
  }

  async add(name: string, expires: number | null, active = true): Promise<{ id: number; key: string }> {
    const { commit, clock, random } = this.#context;
    const text = random.text(40);
    const row = {
      name,
      hash: hashSecret(text),
      created_at: clock.now(),
      expires,
      active: active ? (1 as const) : (0 as const),
    };
    const { id } = await commit(async (transaction: Kysely<Tables>) =>
      transaction.insertInto('api_keys').values(row).returning('id').executeTakeFirstOrThrow(),
    );
    this.#changed();
    return { id, key: `uk${String(id)}_${text}` };
  }

  async setActive(id: number, active: boolean): Promise<void> {
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction
        .updateTable('api_keys')
        .set({ active: active ? 1 : 0 })
        .where('id', '=', id)
        .execute();
    });
    this.#changed();
  }

  async remove(id: number): Promise<void> {
    const removed = await this.#context.commit(async (transaction: Kysely<Tables>) =>
      transaction.deleteFrom('api_keys').where('id', '=', id).returning('id').executeTakeFirst(),
    );
    if (removed === undefined) throw new Problem('uptime.unknown_key', 404, m.keyNotFound());
    this.#changed();
  }

  static hasKeyFormat(text: string): boolean {
    return keyFormat.test(text);
  }

  /**
   * Returns true for a valid, active key.
   * @throws Problem `accounts.too_many_attempts` (429)
   */
  async isValid(text: string, remoteAddress: string): Promise<boolean> {
    const [, number = '', secret = ''] = keyFormat.exec(text) ?? [];
    if (secret === '') return false;
    const { accounts, clock } = this.#context;
    const db: Kysely<Tables> = this.#context.db;
    const row = await db.selectFrom('api_keys').selectAll().where('id', '=', Number(number)).executeTakeFirst();
    const credentials = { service: 'uptime', name: `key ${number}`, secret, remoteAddress };
    return accounts.checkSecret(credentials, () => {
      if (row === undefined || row.active !== 1 || (row.expires !== null && row.expires <= clock.now())) return false;
      return timingSafeEqual(Buffer.from(row.hash), Buffer.from(hashSecret(secret)));
    });
  }
}

function hashSecret(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
