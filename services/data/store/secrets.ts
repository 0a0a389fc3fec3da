import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import type { Tables } from './tables.ts';

/** Secrets of this service at rest. */
export class Secrets {
  readonly #context: Pick<Context, 'db' | 'commit' | 'vault'>;

  constructor(context: Pick<Context, 'db' | 'commit' | 'vault'>) {
    this.#context = context;
  }

  /** The secret of this name; what `make` gives where there is none yet. */
  async take(name: string, make: () => string): Promise<string> {
    const db: Kysely<Tables> = this.#context.db;
    const find = async (): Promise<string | undefined> => {
      const row = await db.selectFrom('secrets').select('sealed').where('name', '=', name).executeTakeFirst();
      return row === undefined ? undefined : this.#context.vault.open(row.sealed, purposeOf(name));
    };
    const known = await find();
    if (known !== undefined) return known;
    const sealed = this.#context.vault.seal(make(), purposeOf(name));
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction
        .insertInto('secrets')
        .values({ name, sealed })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    });
    return (await find()) ?? '';
  }

  async replace(name: string, secret: string): Promise<void> {
    const sealed = this.#context.vault.seal(secret, purposeOf(name));
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction
        .insertInto('secrets')
        .values({ name, sealed })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ sealed }))
        .execute();
    });
  }
}

function purposeOf(name: string): string {
  return `data.secret.${name}`;
}
