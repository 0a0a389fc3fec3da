import { sql, type Kysely } from 'kysely';
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
    // One statement, so that two hosts never reserve the same block.
    const next = sql<string>`cast(cast(keepsakes.value as bigint) + ${sql.lit(blockSize)} as text)`;
    const { value } = await this.#context.commit(async (transaction: Kysely<Tables>) =>
      transaction
        .insertInto('keepsakes')
        .values({ name: counterName, value: String(1 + blockSize) })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: next }))
        .returning('value')
        .executeTakeFirstOrThrow(),
    );
    [this.#next, this.#end] = [Number(value) - blockSize, Number(value)];
  }
}
