import { parseJson } from '../../contracts/parse-json.ts';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Context } from '../../contracts/service.ts';
import { HeartbeatStatus } from '../../contracts/uptime/monitor.ts';
import type { Tables } from './tables.ts';

/** Maximum number of requests in one query. */
const maxRequests = 500;

const OwnerRequestBody = z.discriminatedUnion('kind', [
  /** Report of a push monitor. */
  z.object({ kind: z.literal('report'), status: HeartbeatStatus, msg: z.string(), ping: z.number().nullable() }),
  /** Check outside of the interval. */
  z.object({ kind: z.literal('check') }),
  /** An incident was resolved manually; its monitors are detached from it. */
  z.object({ kind: z.literal('detach'), incident: z.int() }),
]);
export type OwnerRequestBody = z.infer<typeof OwnerRequestBody>;

/** Request to the host that checks the monitors. */
export interface OwnerRequest {
  readonly id: number;
  readonly monitorId: number;
  /** Undefined for a request that this version does not know, as during an update of the hosts. */
  readonly body: OwnerRequestBody | undefined;
}

/** Stores requests of hosts that do not check the monitors, until the one that does has handled them. */
export class OwnerRequestStore {
  readonly #context: Pick<Context, 'db' | 'commit'>;

  constructor(context: Pick<Context, 'db' | 'commit'>) {
    this.#context = context;
  }

  async add(monitorIds: readonly number[], body: OwnerRequestBody): Promise<void> {
    if (monitorIds.length === 0) return;
    const rows = monitorIds.map((id) => ({ monitor_id: id, body: toStorable(JSON.stringify(body)) }));
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction.insertInto('owner_requests').values(rows).execute();
    });
  }

  /** Lists the oldest requests. */
  async list(): Promise<readonly OwnerRequest[]> {
    const db: Kysely<Tables> = this.#context.db;
    const rows = await db.selectFrom('owner_requests').selectAll().orderBy('id').limit(maxRequests).execute();
    return rows.map(({ id, monitor_id: monitorId, body }) => ({
      id,
      monitorId,
      body: OwnerRequestBody.safeParse(parseJson(body)).data,
    }));
  }

  async remove(transaction: Kysely<Tables>, id: number): Promise<void> {
    await transaction.deleteFrom('owner_requests').where('id', '=', id).execute();
  }
}

/** Replaces NUL characters, which PostgreSQL does not store. */
function toStorable(json: string): string {
  return json.replaceAll('\\u0000', '\\ufffd').toWellFormed();
}
