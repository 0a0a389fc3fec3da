import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import { loadOrCreateKey } from '../../kit/stored-key.ts';
import type { Tables } from './tables.ts';

/** Secrets of this service, sealed at rest. */
export class Secrets {
  readonly #context: Pick<Context, 'db' | 'commit' | 'log' | 'vault'>;

  constructor(context: Pick<Context, 'db' | 'commit' | 'log' | 'vault'>) {
    this.#context = context;
  }

  /**
   * Returns a secret, created by `make` at the first use.
   * @throws Problem `vault.key_unreadable` (503) when the vault cannot open it
   */
  getOrCreate(name: string, make: () => string): Promise<string> {
    return loadOrCreateKey(this.#context, { table: 'secrets', name, purpose: getPurpose(name) }, make);
  }

  async replace(name: string, secret: string): Promise<void> {
    const sealed = this.#context.vault.seal(secret, getPurpose(name));
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction
        .insertInto('secrets')
        .values({ name, sealed })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ sealed }))
        .execute();
    });
  }
}

function getPurpose(name: string): string {
  return `data.secret.${name}`;
}
