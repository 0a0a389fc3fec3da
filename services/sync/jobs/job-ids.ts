import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import type { Tables } from '../store/tables.ts';
import { SingleFlight } from '../../kit/single-flight.ts';

const counterName = 'sync.next-job';
const blockSize = 1000;

/** Allocates job IDs. Each call gets one, and no ID is used twice, even after a crash. IDs are reserved in blocks. */
export class JobIds {
  readonly #context: Pick<Context, 'commit' | 'db'>;
  #next = 1;
  #end = 1;
  readonly #reserving = new SingleFlight(() => this.#reserve());

  constructor(context: Pick<Context, 'commit' | 'db'>) {
    this.#context = context;
  }

  async take(): Promise<number> {
    while (this.#next >= this.#end) await this.#reserving.run();
    return this.#next++;
  }

  async #reserve(): Promise<void> {
    const [from, to] = await this.#context.commit(async (transaction: Kysely<Tables>) => {
      const row = await transaction
        .selectFrom('keepsakes')
        .select('value')
        .where('name', '=', counterName)
        .executeTakeFirst();
      const first = row === undefined ? 1 : Number(row.value);
      const value = String(first + blockSize);
      await transaction
        .insertInto('keepsakes')
        .values({ name: counterName, value })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
        .execute();
      return [first, first + blockSize];
    });
    [this.#next, this.#end] = [from ?? 1, to ?? 1];
  }
}
