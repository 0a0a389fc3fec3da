import type { ExpressionBuilder, Kysely, SqlBool, ExpressionWrapper } from 'kysely';
import type { DownloadState } from '../../contracts/downloads/api.ts';
import { doneStates, getIdleState, isRunning, queueStates, runningStates, type Item } from '../domain/item.ts';
import {
  buildSearchText,
  fromRow,
  serializeFailureParameters,
  serializeMediaDetails,
  serializeOtherFiles,
  toRow,
  toStorableText,
  type DownloadRow,
  type Tables,
} from './rows.ts';

/** Rows per statement; PostgreSQL allows 65,535 parameters, and a row has 29. */
const chunk = 200;

/** Maximum number of search words: databases limit the depth of a condition. */
const maxSearchWords = 10;

/** Process that works on a row. */
export interface RunOwner {
  readonly machine: string;
  /** `<pid>/<start time>` of the host. */
  readonly process: string;
  /** Id of the host among those that share the tables; undefined for rows of earlier versions. */
  readonly host?: string | undefined;
}

/** Row with a run, or with a run that is ending, and its owner. */
export interface RunningRow {
  readonly item: Item;
  readonly owner: RunOwner | undefined;
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

/** Changed fields of an item; omitted fields remain. */
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
    | 'failure'
    | 'failureParameters'
    | 'filename'
    | 'size'
    | 'otherFiles'
    | 'media'
    | 'thumbnail'
    | 'startsAt'
  >
>;

/** Stores the queue and the history, on one connection or transaction. */
export class DownloadStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<any>) {
    this.#db = db as Kysely<Tables>;
  }

  /** Appends items to the queue, in the given order. */
  async append(items: readonly Item[]): Promise<void> {
    let position = await this.#next('position');
    for (let start = 0; start < items.length; start += chunk) {
      const rows = items.slice(start, start + chunk).map((item) => toRow(item, position++));
      await this.#db.insertInto('downloads').values(rows).execute();
    }
  }

  /** Replaces the row of a playlist by its entries at the same position. Returns the stored entries. */
  async replace(uid: string, entries: readonly Item[]): Promise<readonly Item[]> {
    const row = await this.#db
      .selectFrom('downloads')
      .select(['position', 'state', 'anyway'])
      .where('uid', '=', uid)
      .executeTakeFirst();
    if (row === undefined) return [];
    // A state change during the probe applies to the entries as well.
    const items = entries.map((item) => ({
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
    const row = await this.#db
      .selectFrom('downloads')
      .selectAll()
      .where('uid', '=', toStorableText(uid))
      .executeTakeFirst();
    return row === undefined ? undefined : fromRow(row);
  }

  /** Finds items by `uid` or address, which MeTube's clients use as the id; oldest first. */
  async match(ids: readonly string[], states: readonly DownloadState[]): Promise<readonly Item[]> {
    const items: Item[] = [];
    for (let start = 0; start < ids.length; start += chunk) {
      const part = ids.slice(start, start + chunk).map(toStorableText);
      const rows = await this.#db
        .selectFrom('downloads')
        .selectAll()
        .where((expression) => expression.or([expression('uid', 'in', part), expression('url', 'in', part)]))
        .where('state', 'in', states)
        .orderBy('position')
        .execute();
      items.push(...rows.map(fromRow));
    }
    return items;
  }

  /** Returns all open items in order. */
  async queue(states: readonly DownloadState[] = queueStates): Promise<readonly Item[]> {
    const rows = await this.#db
      .selectFrom('downloads')
      .selectAll()
      .where('state', 'in', states)
      .orderBy('position')
      .execute();
    return rows.map(fromRow);
  }

  /** Returns ended items, newest first, and their total number. */
  async history(query: HistoryQuery): Promise<{ readonly items: readonly Item[]; readonly total: number }> {
    const searchWords = toStorableText(query.q ?? '')
      .toLowerCase()
      .split(/\s+/);
    const terms = searchWords.filter((word) => word !== '').slice(0, maxSearchWords);
    const buildCondition = (
      expression: ExpressionBuilder<Tables, 'downloads'>,
    ): ExpressionWrapper<Tables, 'downloads', SqlBool> =>
      expression.and([
        expression('state', 'in', query.state === undefined ? doneStates : [query.state]),
        // In the notation of JSON; no other field of a request has this name.
        ...(query.kind === undefined ? [] : [expression('request', 'like', `%"type":"${query.kind}"%`)]),
        ...terms.map((word) => expression('search', 'like', `%${word.replaceAll(/[%_]/g, '')}%`)),
      ]);
    const rows = await this.#db
      .selectFrom('downloads')
      .selectAll()
      .where(buildCondition)
      .orderBy('finished_order', 'desc')
      .limit(query.limit)
      .offset(query.offset)
      .execute();
    const countRow = await this.#db
      .selectFrom('downloads')
      .select((expression) => expression.fn.countAll<number>().as('total'))
      .where(buildCondition)
      .executeTakeFirst();
    return { items: rows.map(fromRow), total: Number(countRow?.total ?? 0) };
  }

  /** Returns whether any download exists, in any state. */
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

  /**
   * Claims the first waiting item for this process; with `anyway`, the first that ignores the allowed hours. Undefined
   * when there is none, or another process claimed it first.
   */
  async claim(
    owner: RunOwner,
    leaseUntil: number,
    { anyway = false, now = 0 }: { readonly anyway?: boolean; readonly now?: number } = {},
  ): Promise<Item | undefined> {
    const waiting = this.#db
      .selectFrom('downloads')
      .selectAll()
      .where('state', '=', 'waiting')
      // Resumed while its last run is still ending: two runs would write the same partial file.
      .where('host_process', 'is', null)
      .where((expression) => expression.or([expression('starts_at', 'is', null), expression('starts_at', '<=', now)]))
      .orderBy('position')
      .limit(1);
    const first = await (anyway ? waiting.where('anyway', '=', 1) : waiting).executeTakeFirst();
    if (first === undefined) return undefined;
    const changed = await this.#db
      .updateTable('downloads')
      .set({ state: 'preparing', ...toOwnerColumns(owner, leaseUntil) })
      .where('uid', '=', first.uid)
      .where('state', '=', 'waiting')
      .where('host_process', 'is', null)
      .executeTakeFirst();
    return changed.numUpdatedRows === 0n ? undefined : fromRow({ ...first, state: 'preparing' });
  }

  /** Stores the owner of an item that this process took without {@link claim}. */
  async setOwner(uid: string, owner: RunOwner, leaseUntil: number): Promise<void> {
    await this.#db.updateTable('downloads').set(toOwnerColumns(owner, leaseUntil)).where('uid', '=', uid).execute();
  }

  async renew(uids: readonly string[], leaseUntil: number): Promise<void> {
    for (let start = 0; start < uids.length; start += chunk) {
      const part = uids.slice(start, start + chunk);
      await this.#db.updateTable('downloads').set({ lease_until: leaseUntil }).where('uid', 'in', part).execute();
    }
  }

  async setChild(uid: string, child: string | null): Promise<void> {
    await this.#db.updateTable('downloads').set({ child_process: child }).where('uid', '=', uid).execute();
  }

  /** Returns rows in a running state, and those whose run is ending. */
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
      owner:
        row.machine === null || row.host_process === null
          ? undefined
          : { machine: row.machine, process: row.host_process, host: row.host ?? undefined },
      leaseUntil: row.lease_until ?? 0,
      child: row.child_process,
    }));
  }

  /** Changes an item; undefined when it no longer exists. */
  async change(uid: string, change: ItemChange): Promise<Item | undefined> {
    const item = await this.find(uid);
    if (item === undefined) return undefined;
    const next = { ...item, ...change };
    const values: Partial<DownloadRow> = {
      request: JSON.stringify(next.order),
      state: next.state,
      title: toStorableText(next.title),
      search: buildSearchText(next),
      video_id: toStorableText(next.videoId),
      live_status: next.liveStatus,
      probed: next.probed ? 1 : 0,
      attempts: next.attempts,
      message: toStorableText(next.message),
      failure: next.failure ?? null,
      failure_parameters: serializeFailureParameters(next.failureParameters),
      filename: next.filename,
      size: next.size,
      other_files: serializeOtherFiles(next),
      media: serializeMediaDetails(next),
      thumbnail: toStorableText(next.thumbnail),
      starts_at: next.startsAt ?? null,
    };
    // A late title of a paused row does not end its run.
    if (change.state !== undefined && !isRunning(change.state)) Object.assign(values, noOwner);
    await this.#db.updateTable('downloads').set(values).where('uid', '=', uid).execute();
    return next;
  }

  /** Applies a change by a run. Undefined, without a change, when the item was paused or removed. */
  async advance(uid: string, change: ItemChange): Promise<Item | undefined> {
    const item = await this.find(uid);
    return item === undefined || !isRunning(item.state) ? undefined : await this.change(uid, change);
  }

  /** Releases an item whose run ended early: it waits at its former position, or stays paused. */
  async release(uid: string, change: Pick<ItemChange, 'attempts'> = {}): Promise<Item | undefined> {
    const item = await this.find(uid);
    if (item === undefined) return undefined;
    return await this.change(uid, { ...change, state: isRunning(item.state) ? getIdleState(item) : item.state });
  }

  /** Changes an item and moves it to the history. */
  async finish(uid: string, timestamp: number, change: ItemChange): Promise<Item | undefined> {
    const item = await this.change(uid, change);
    if (item === undefined) return undefined;
    const finishedOrder = await this.#next('finished_order');
    const values = { finished_at: timestamp, finished_order: finishedOrder };
    await this.#db.updateTable('downloads').set(values).where('uid', '=', uid).execute();
    return { ...item, finishedAt: timestamp };
  }

  /** Moves an item to the end of the queue. Undefined, without a change, when its state has changed. */
  async requeue(uid: string, from: DownloadState, to: DownloadState): Promise<Item | undefined> {
    if ((await this.find(uid))?.state !== from) return undefined;
    const position = await this.#next('position');
    const values = { position, finished_at: null, finished_order: null };
    await this.#db.updateTable('downloads').set(values).where('uid', '=', uid).execute();
    return await this.change(uid, { state: to, message: null, failure: null, failureParameters: null });
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

const noOwner = { machine: null, host_process: null, host: null, lease_until: null, child_process: null };

function toOwnerColumns(owner: RunOwner, leaseUntil: number): Partial<DownloadRow> {
  const { machine, process, host = null } = owner;
  return { machine, host_process: process, host, lease_until: leaseUntil, child_process: null };
}
