import { inboxApi } from '../../../../services/contracts/inbox/api.ts';
import { call } from '../../api/call.ts';

/** Maximum number of ids in one call, as on the host. */
const maxIds = 1000;

export type Change = { readonly read?: boolean | undefined; readonly done?: boolean | undefined };

/** Result of a change: the number of rows, the unread count, and the ids of the changes for Undo. */
export interface Changed {
  readonly count: number;
  readonly unread: number;
  readonly numbers: readonly number[];
}

/** Marks rows on the host. `repeats` includes the earlier rows that these repeat. */
export async function changeRows(ids: readonly number[] | 'all', change: Change, repeats: boolean): Promise<Changed> {
  const changed = { count: 0, unread: 0, numbers: [] as number[] };
  for (const part of ids === 'all' ? [ids] : splitIds(ids)) {
    const body = { ids: part, ...change, undoable: true as const, ...(repeats && { repeats: true as const }) };
    const reply = await call(inboxApi.change, { body });
    changed.count += reply.changed;
    changed.unread = reply.unread;
    if (reply.change !== undefined) changed.numbers.push(reply.change);
  }
  return changed;
}

/** Reverts a change, except for rows that were changed since. */
export async function undoChange({ numbers }: Changed): Promise<void> {
  for (const change of numbers.toReversed()) await call(inboxApi.undo, { body: { change } });
}

/** Splits ids into parts of the maximum size of a call. */
export function splitIds(ids: readonly number[]): number[][] {
  const parts: number[][] = [];
  for (let start = 0; start < ids.length; start += maxIds) parts.push(ids.slice(start, start + maxIds));
  return parts;
}
