import { sql, type Kysely, type Selectable } from 'kysely';
import type { CodedFailure } from '../../contracts/uptime/causes.ts';
import type { Incident } from '../../contracts/uptime/views.ts';
import type { Tables } from './tables.ts';
import { buildCandidatePattern } from '../../kit/like-pattern.ts';

/** Outage that ended before the import of its monitor. */
export interface PastOutage {
  readonly monitorId: number;
  /** Milliseconds since the epoch, like `resolvedAt`. */
  readonly startedAt: number;
  readonly resolvedAt: number;
  readonly cause: string;
}

/** Cause of an incident: in English, and the failure if a check states it. */
export interface IncidentCause {
  readonly cause: string;
  readonly failure?: CodedFailure | undefined;
}

/** Stores incidents. */
export class IncidentStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async open(
    transaction: Kysely<Tables>,
    monitorId: number,
    at: number,
    { cause, failure }: IncidentCause,
  ): Promise<number> {
    const { id } = await transaction
      .insertInto('incidents')
      .values({
        started_at: at,
        cause: cause.replaceAll('\0', '\uFFFD'),
        failure: failure === undefined ? null : JSON.stringify(failure),
        notes: '[]',
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await this.join(transaction, id, monitorId);
    return id;
  }

  async addPast(transaction: Kysely<Tables>, pastIncidents: readonly PastOutage[]): Promise<void> {
    for (const { monitorId, startedAt, resolvedAt, cause } of pastIncidents) {
      const id = await this.open(transaction, monitorId, startedAt, { cause });
      await this.resolve(transaction, id, resolvedAt);
    }
  }

  /** Finds the newest open incident of several monitors that began in a time span. */
  async findOpen(
    transaction: Kysely<Tables>,
    monitors: readonly number[],
    [from, to]: readonly [number, number],
  ): Promise<number | undefined> {
    if (monitors.length === 0) return undefined;
    const row = await transaction
      .selectFrom('incidents')
      .innerJoin('incident_monitors', 'incident_monitors.incident_id', 'incidents.id')
      .select('incidents.id')
      .where('incidents.resolved_at', 'is', null)
      .where('incidents.started_at', '>=', from)
      .where('incidents.started_at', '<=', to)
      .where('incident_monitors.monitor_id', 'in', monitors.slice(0, 1000))
      .orderBy('incidents.id', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row?.id;
  }

  async join(transaction: Kysely<Tables>, id: number, monitorId: number): Promise<void> {
    await transaction
      .insertInto('incident_monitors')
      .values({ incident_id: id, monitor_id: monitorId })
      .onConflict((conflict) => conflict.columns(['incident_id', 'monitor_id']).doNothing())
      .execute();
  }

  async resolve(transaction: Kysely<Tables>, id: number, at: number): Promise<void> {
    await transaction
      .updateTable('incidents')
      .set({ resolved_at: at })
      .where('id', '=', id)
      .where('resolved_at', 'is', null)
      .execute();
  }

  async acknowledge(transaction: Kysely<Tables>, id: number, by: string, at: number): Promise<void> {
    await transaction
      .updateTable('incidents')
      .set({ acknowledged_by: by, acknowledged_at: at })
      .where('id', '=', id)
      .where('acknowledged_at', 'is', null)
      .execute();
  }

  async addNote(transaction: Kysely<Tables>, id: number, note: Incident['notes'][number]): Promise<void> {
    const row = await transaction.selectFrom('incidents').select('notes').where('id', '=', id).executeTakeFirst();
    if (row === undefined) return;
    const notes = [...(JSON.parse(row.notes) as Incident['notes']), note];
    await transaction
      .updateTable('incidents')
      .set({ notes: JSON.stringify(notes).replaceAll('\\u0000', '\\ufffd') })
      .where('id', '=', id)
      .execute();
  }

  /** Replaces the name of a removed account in acknowledgments and notes, so that no later account appears there. */
  async renameAuthor(transaction: Kysely<Tables>, account: string, author: string): Promise<void> {
    await transaction
      .updateTable('incidents')
      .set({ acknowledged_by: author })
      .where('acknowledged_by', '=', account)
      .execute();
    const pattern = buildCandidatePattern(JSON.stringify(account));
    const query = transaction.selectFrom('incidents').select(['id', 'notes']).where('notes', 'like', pattern);
    for (const { id, notes } of await query.execute()) {
      const renamed = (JSON.parse(notes) as Incident['notes']).map((note) =>
        note.by === account ? { ...note, by: author } : note,
      );
      const set = { notes: JSON.stringify(renamed) };
      await transaction.updateTable('incidents').set(set).where('id', '=', id).execute();
    }
  }

  async find(id: number): Promise<Incident | undefined> {
    const row = await this.#db.selectFrom('incidents').selectAll().where('id', '=', id).executeTakeFirst();
    return row === undefined ? undefined : (await this.#withMonitors([row]))[0];
  }

  /** Lists the incidents of several monitors that were open since a time, newest first. */
  async listForMonitors(monitors: readonly number[], since: number, limit: number): Promise<Incident[]> {
    if (monitors.length === 0) return [];
    const rows = await this.#db
      .selectFrom('incidents')
      .selectAll()
      .where('id', 'in', (from) =>
        from.selectFrom('incident_monitors').select('incident_id').where('monitor_id', 'in', monitors.slice(0, 1000)),
      )
      .where((where) => where.or([where('resolved_at', 'is', null), where('resolved_at', '>=', since)]))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return this.#withMonitors(rows);
  }

  async list(filter: {
    readonly open?: boolean | undefined;
    readonly monitor?: number | undefined;
    readonly before?: number | undefined;
    readonly limit: number;
  }): Promise<Incident[]> {
    const { open, monitor, before, limit } = filter;
    const rows = await this.#db
      .selectFrom('incidents')
      .selectAll()
      .$if(open === true, (query) => query.where(sql<boolean>`resolved_at is null`))
      .$if(open === false, (query) => query.where('resolved_at', 'is not', null))
      .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0))
      .$if(monitor !== undefined, (query) =>
        query.where('id', 'in', (from) =>
          from
            .selectFrom('incident_monitors')
            .select('incident_id')
            .where('monitor_id', '=', monitor ?? 0),
        ),
      )
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return this.#withMonitors(rows);
  }

  async #withMonitors(rows: readonly Selectable<Tables['incidents']>[]): Promise<Incident[]> {
    if (rows.length === 0) return [];
    const members = await this.#db
      .selectFrom('incident_monitors')
      .selectAll()
      .where(
        'incident_id',
        'in',
        rows.map(({ id }) => id),
      )
      .orderBy('monitor_id')
      .execute();
    const monitors = Map.groupBy(members, ({ incident_id }) => incident_id);
    return rows.map((row) => ({
      id: row.id,
      monitorIds: (monitors.get(row.id) ?? []).map(({ monitor_id }) => monitor_id),
      startedAt: row.started_at,
      resolvedAt: row.resolved_at,
      cause: row.cause,
      ...(row.failure === null ? {} : { failure: JSON.parse(row.failure) as CodedFailure }),
      acknowledgedBy: row.acknowledged_by,
      acknowledgedAt: row.acknowledged_at,
      notes: JSON.parse(row.notes) as Incident['notes'],
    }));
  }
}
