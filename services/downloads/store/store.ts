import type { ExpressionBuilder, Kysely, SqlBool, ExpressionWrapper } from 'kysely';
import type { DownloadState } from '../../contracts/downloads/api.ts';
import { doneStates, idleState, isRunning, queueStates, runningStates, type Item } from '../domain/item.ts';
import { fromRow, otherFilesText, searchText, storable, toRow, type DownloadRow, type Tables } from './rows.ts';

/** Rows that go into one statement; PostgreSQL allows 65,535 parameters, a row has 24. */
const chunk = 200;

/** Words of a search that count: databases bound the depth of a condition. */
const mostWords = 10;

/** Which process works on a row, as the row remembers it. */
export interface Holder {
  readonly machine: string;
  /** `<pid>/<start time>` of the host. */
  readonly process: string;
}

/** A row that is worked on, or whose work has not quite ended, with what is known of who does it. */
export interface RunningRow {
  readonly item: Item;
  readonly holder: Holder | undefined;
  readonly leaseUntil: number;
  /** `<pid>/<start time>` of the extractor. */
  readonly child: string | null;
}

export interface HistoryQuery {
  readonly limit: number;
  readonly offset: number;
  readonly state?: 'finished' | 'failed' | undefined;
  readonly q?: string | undefined;
  readonly kind?: string | undefined;
}

/** What is changed when the state changes; a field that is left out stays. */
export type ItemChange = Partial<
  Pick<
    Item,
    | 'order'
    | 'state'
    | 'title'
    | 'videoId'
    | 'liveStatus'
    | 'probed'
    | 'attempts'
    | 'message'
    | 'filename'
    | 'size'
    | 'otherFiles'
    | 'thumbnail'
    | 'startsAt'
  >
>;

/** The queue and the history on one connection or transaction. */
export class DownloadStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<any>) {
    this.#db = db as Kysely<Tables>;
  }

  /** Puts items at the end of the queue, in their order. */
  async append(items: readonly Item[]): Promise<void> {
    let position = await this.#next('position');
    for (let start = 0; start < items.length; start += chunk) {
      const rows = items.slice(start, start + chunk).map((item) => toRow(item, position++));
      await this.#db.insertInto('downloads').values(rows).execute();
    }
  }

  /** Puts the entries of a playlist where the playlist's own row was, and removes that. Returns them as they are stored. */
  async replace(uid: string, given: readonly Item[]): Promise<readonly Item[]> {
    const row = await this.#db
      .selectFrom('downloads')
      .select(['position', 'state', 'anyway'])
      .where('uid', '=', uid)
      .executeTakeFirst();
    if (row === undefined) return [];
    // Paused, or started at any hour, while the site was asked: so are the entries.
    const items = given.map((item) => ({
      ...item,
      state: row.state === 'paused' ? row.state : item.state,
      anyway: row.anyway === 1,
    }));
    await this.#db
      .updateTable('downloads')
      .set((expression) => ({ position: expression('position', '+', items.length) }))
      .where('position', '>', row.position)
      .execute();
    await this.remove([uid]);
    for (let start = 0; start < items.length; start += chunk) {
      const rows = items.slice(start, start + chunk).map((item, index) => toRow(item, row.position + start + index));
      await this.#db.insertInto('downloads').values(rows).execute();
    }
    return items;
  }

  async find(uid: string): Promise<Item | undefined> {
    const row = await this.#db.selectFrom('downloads').selectAll().where('uid', '=', storable(uid)).executeTakeFirst();
    return row === undefined ? undefined : fromRow(row);
  }

  /** Items by `uid` or address, which the peer's clients use as the id; oldest first. */
  async match(ids: readonly string[], states: readonly DownloadState[]): Promise<readonly Item[]> {
    const items: Item[] = [];
    for (let start = 0; start < ids.length; start += chunk) {
      const some = ids.slice(start, start + chunk).map(storable);
      const rows = await this.#db
        .selectFrom('downloads')
        .selectAll()
        .where((expression) => expression.or([expression('uid', 'in', some), expression('url', 'in', some)]))
        .where('state', 'in', states)
        .orderBy('position')
        .execute();
      items.push(...rows.map(fromRow));
    }
    return items;
  }

  /** Everything that is not done, in its order. */
  async queue(states: readonly DownloadState[] = queueStates): Promise<readonly Item[]> {
    const rows = await this.#db
      .selectFrom('downloads')
      .selectAll()
      .where('state', 'in', states)
      .orderBy('position')
      .execute();
    return rows.map(fromRow);
  }

  /** What is done, newest first, and how much of it there is. */
  async history(query: HistoryQuery): Promise<{ readonly items: readonly Item[]; readonly total: number }> {
    const given = storable(query.q ?? '')
      .toLowerCase()
      .split(/\s+/);
    const words = given.filter((word) => word !== '').slice(0, mostWords);
    const wanted = (
      expression: ExpressionBuilder<Tables, 'downloads'>,
    ): ExpressionWrapper<Tables, 'downloads', SqlBool> =>
      expression.and([
        expression('state', 'in', query.state === undefined ? doneStates : [query.state]),
        // As JSON writes it; nothing else in a request has this name.
        ...(query.kind === undefined ? [] : [expression('request', 'like', `%"type":"${query.kind}"%`)]),
        ...words.map((word) => expression('search', 'like', `%${word.replaceAll(/[%_]/g, '')}%`)),
      ]);
    const rows = await this.#db
      .selectFrom('downloads')
      .selectAll()
      .where(wanted)
      .orderBy('finished_order', 'desc')
      .limit(query.limit)
      .offset(query.offset)
      .execute();
    const counted = await this.#db
      .selectFrom('downloads')
      .select((expression) => expression.fn.countAll<number>().as('total'))
      .where(wanted)
      .executeTakeFirst();
    return { items: rows.map(fromRow), total: Number(counted?.total ?? 0) };
  }

  /** Whether there is one, in whatever state. */
  async hasAny(): Promise<boolean> {
    return (await this.#db.selectFrom('downloads').select('uid').limit(1).executeTakeFirst()) !== undefined;
  }

  async counts(): Promise<ReadonlyMap<DownloadState, number>> {
    const rows = await this.#db
      .selectFrom('downloads')
      .select((expression) => ['state', expression.fn.countAll<number>().as('count')])
      .groupBy('state')
      .execute();
    return new Map(rows.map(({ state, count }) => [state, Number(count)]));
  }

  /** Takes the first waiting item for this process, with `anyway` the first that keeps to no hours; undefined when there is none, or another process was faster. */
  async claim(
    holder: Holder,
    leaseUntil: number,
    { anyway = false, now = 0 }: { readonly anyway?: boolean; readonly now?: number } = {},
  ): Promise<Item | undefined> {
    const waiting = this.#db
      .selectFrom('downloads')
      .selectAll()
      .where('state', '=', 'waiting')
      // Resumed before its last run has quite ended: two would write the same part.
      .where('host_process', 'is', null)
      .where((expression) => expression.or([expression('starts_at', 'is', null), expression('starts_at', '<=', now)]))
      .orderBy('position')
      .limit(1);
    const first = await (anyway ? waiting.where('anyway', '=', 1) : waiting).executeTakeFirst();
    if (first === undefined) return undefined;
    const changed = await this.#db
      .updateTable('downloads')
      .set({ state: 'preparing', ...holding(holder, leaseUntil) })
      .where('uid', '=', first.uid)
      .where('state', '=', 'waiting')
      .where('host_process', 'is', null)
      .executeTakeFirst();
    return changed.numUpdatedRows === 0n ? undefined : fromRow({ ...first, state: 'preparing' });
  }

  /** Writes who works on an item that this process has taken otherwise than by {@link claim}. */
  async hold(uid: string, holder: Holder, leaseUntil: number): Promise<void> {
    await this.#db.updateTable('downloads').set(holding(holder, leaseUntil)).where('uid', '=', uid).execute();
  }

  async renew(uids: readonly string[], leaseUntil: number): Promise<void> {
    for (let start = 0; start < uids.length; start += chunk) {
      const some = uids.slice(start, start + chunk);
      await this.#db.updateTable('downloads').set({ lease_until: leaseUntil }).where('uid', 'in', some).execute();
    }
  }

  async setChild(uid: string, child: string | null): Promise<void> {
    await this.#db.updateTable('downloads').set({ child_process: child }).where('uid', '=', uid).execute();
  }

  /** Rows in a running state, and those whose run was told to end. */
  async running(): Promise<readonly RunningRow[]> {
    const rows = await this.#db
      .selectFrom('downloads')
      .selectAll()
      .where((expression) =>
        expression.or([expression('state', 'in', runningStates), expression('host_process', 'is not', null)]),
      )
      .orderBy('position')
      .execute();
    return rows.map((row) => ({
      item: fromRow(row),
      holder:
        row.machine === null || row.host_process === null
          ? undefined
          : { machine: row.machine, process: row.host_process },
      leaseUntil: row.lease_until ?? 0,
      child: row.child_process,
    }));
  }

  /** Changes an item; undefined when it is gone meanwhile. */
  async change(uid: string, change: ItemChange): Promise<Item | undefined> {
    const item = await this.find(uid);
    if (item === undefined) return undefined;
    const next = { ...item, ...change };
    const values: Partial<DownloadRow> = {
      request: JSON.stringify(next.order),
      state: next.state,
      title: storable(next.title),
      search: searchText(next),
      video_id: storable(next.videoId),
      live_status: next.liveStatus,
      probed: next.probed ? 1 : 0,
      attempts: next.attempts,
      message: storable(next.message),
      filename: next.filename,
      size: next.size,
      other_files: otherFilesText(next),
      thumbnail: storable(next.thumbnail),
      starts_at: next.startsAt ?? null,
    };
    // A title that comes late, of a row that was paused meanwhile, ends no run.
    if (change.state !== undefined && !isRunning(change.state)) Object.assign(values, released);
    await this.#db.updateTable('downloads').set(values).where('uid', '=', uid).execute();
    return next;
  }

  /** What a run changes: undefined, and nothing is changed, when it was paused or removed meanwhile. */
  async advance(uid: string, change: ItemChange): Promise<Item | undefined> {
    const item = await this.find(uid);
    return item === undefined || !isRunning(item.state) ? undefined : await this.change(uid, change);
  }

  /** A run has ended early: the item waits at its old place, or stays paused where it was. */
  async release(uid: string, change: Pick<ItemChange, 'attempts'> = {}): Promise<Item | undefined> {
    const item = await this.find(uid);
    if (item === undefined) return undefined;
    return await this.change(uid, { ...change, state: isRunning(item.state) ? idleState(item) : item.state });
  }

  /** Changes an item and moves it into the history. */
  async finish(uid: string, at: number, change: ItemChange): Promise<Item | undefined> {
    const item = await this.change(uid, change);
    if (item === undefined) return undefined;
    const finishedOrder = await this.#next('finished_order');
    const values = { finished_at: at, finished_order: finishedOrder };
    await this.#db.updateTable('downloads').set(values).where('uid', '=', uid).execute();
    return { ...item, finishedAt: at };
  }

  /** Puts an item to the end of the queue; undefined, and nothing is changed, when its state is another one by now. */
  async requeue(uid: string, from: DownloadState, to: DownloadState): Promise<Item | undefined> {
    if ((await this.find(uid))?.state !== from) return undefined;
    const position = await this.#next('position');
    const values = { position, finished_at: null, finished_order: null };
    await this.#db.updateTable('downloads').set(values).where('uid', '=', uid).execute();
    return await this.change(uid, { state: to, message: null });
  }

  async remove(uids: readonly string[]): Promise<void> {
    for (let start = 0; start < uids.length; start += chunk) {
      await this.#db
        .deleteFrom('downloads')
        .where('uid', 'in', uids.slice(start, start + chunk))
        .execute();
    }
  }

  async #next(column: 'position' | 'finished_order'): Promise<number> {
    const row = await this.#db
      .selectFrom('downloads')
      .select((expression) => expression.fn.max(column).as('last'))
      .executeTakeFirst();
    return Number(row?.last ?? 0) + 1;
  }
}

const released = { machine: null, host_process: null, lease_until: null, child_process: null };

function holding(holder: Holder, leaseUntil: number): Partial<DownloadRow> {
  return { machine: holder.machine, host_process: holder.process, lease_until: leaseUntil, child_process: null };
}
