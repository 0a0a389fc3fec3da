import * as m from '#messages/uptime-problems';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Proxy, ProxyFields } from '../../contracts/uptime/proxies.ts';
import type { ProxyAddress } from '../check/messages.ts';
import type { Tables } from './tables.ts';

const purpose = 'uptime.proxy';

/** Proxy with its password. */
export interface StoredProxy extends ProxyFields {
  readonly id: number;
}

/** Stores the proxies of monitors; all fields are sealed. */
export class Proxies {
  readonly #context: Pick<Context, 'db' | 'commit' | 'vault'>;
  readonly #changed: (list: readonly StoredProxy[]) => void;
  readonly #proxies = new Map<number, StoredProxy>();

  constructor(context: Pick<Context, 'db' | 'commit' | 'vault'>, changed: (list: readonly StoredProxy[]) => void) {
    this.#context = context;
    this.#changed = changed;
  }

  async start(): Promise<void> {
    const db: Kysely<Tables> = this.#context.db;
    const rows = await db.selectFrom('proxies').selectAll().orderBy('id').execute();
    this.#proxies.clear();
    for (const { id, sealed } of rows) {
      const fields = JSON.parse(this.#context.vault.open(sealed, purpose)) as ProxyFields;
      this.#proxies.set(id, { ...fields, id });
    }
    this.#changed(this.all());
  }

  find(id: number): StoredProxy | undefined {
    return this.#proxies.get(id);
  }

  all(): readonly StoredProxy[] {
    return [...this.#proxies.values()];
  }

  /**
   * Adds a proxy, or replaces the fields of the one with an ID. An undefined password keeps the stored one.
   * @throws Problem `uptime.unknown_proxy` (404)
   */
  async put(input: ProxyFields, id?: number): Promise<StoredProxy> {
    const existing = id === undefined ? undefined : this.#proxies.get(id);
    if (id !== undefined && existing === undefined) throw createUnknownProxyProblem();
    const password = input.password === undefined ? (existing?.password ?? null) : input.password;
    const fields = { ...input, username: input.username ?? '', password };
    const others = this.all().filter((one) => fields.default && one.default && one.id !== id);
    const storedId = await this.#context.commit(async (transaction: Kysely<Tables>) => {
      for (const other of others) await this.#update(transaction, { ...other, default: false });
      if (id !== undefined) {
        await this.#update(transaction, { ...fields, id });
        return id;
      }
      const row = { sealed: this.#seal(fields) };
      return (await transaction.insertInto('proxies').values(row).returning('id').executeTakeFirstOrThrow()).id;
    });
    for (const other of others) this.#proxies.set(other.id, { ...other, default: false });
    const stored = { ...fields, id: storedId };
    this.#proxies.set(storedId, stored);
    this.#changed(this.all());
    return stored;
  }

  /** @throws Problem `uptime.unknown_proxy` (404) */
  async remove(id: number): Promise<void> {
    if (!this.#proxies.has(id)) throw createUnknownProxyProblem();
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction.deleteFrom('proxies').where('id', '=', id).execute();
    });
    this.#proxies.delete(id);
    this.#changed(this.all());
  }

  async #update(transaction: Kysely<Tables>, { id, ...fields }: StoredProxy): Promise<void> {
    await transaction
      .updateTable('proxies')
      .set({ sealed: this.#seal(fields) })
      .where('id', '=', id)
      .execute();
  }

  #seal(fields: ProxyFields): string {
    return this.#context.vault.seal(JSON.stringify(fields).toWellFormed(), purpose);
  }
}

/** Returns a proxy without its password. */
export function toProxyView({ password, ...fields }: StoredProxy): Proxy {
  return { ...fields, username: fields.username ?? '', hasPassword: (password ?? '') !== '' };
}

/** Returns a proxy in the form of the checker process. */
export function toProxyAddress({
  id,
  protocol,
  host,
  port,
  auth,
  username,
  password,
  active,
}: StoredProxy): ProxyAddress {
  const address = { id, protocol, host, port, active };
  const hasSignIn = auth && (username ?? '') !== '';
  return hasSignIn ? { ...address, username: username ?? '', password: password ?? '' } : address;
}

function createUnknownProxyProblem(): Problem {
  return new Problem('uptime.unknown_proxy', 404, m.proxyNotFound());
}
