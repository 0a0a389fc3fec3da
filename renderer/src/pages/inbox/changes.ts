import { inboxApi } from '../../../../services/contracts/inbox/api.ts';
import { call } from '../../api/call.ts';

/** The host takes as many ids in one call. */
const callLimit = 1000;

export type Change = { readonly read?: boolean | undefined; readonly done?: boolean | undefined };

/** What came of a change: how many rows, how many are unread now, and the numbers to take it back by. */
export interface Changed {
  readonly count: number;
  readonly unread: number;
  readonly numbers: readonly number[];
}

/** Has the host mark rows. `repeats`: also the earlier ones that these are repeats of. */
export async function changeRows(ids: readonly number[] | 'all', change: Change, repeats: boolean): Promise<Changed> {
  const changed = { count: 0, unread: 0, numbers: [] as number[] };
  for (const part of ids === 'all' ? [ids] : partsOf(ids)) {
    const body = { ids: part, ...change, undoable: true as const, ...(repeats && { repeats: true as const }) };
    const reply = await call(inboxApi.change, { body });
    changed.count += reply.changed;
    changed.unread = reply.unread;
    if (reply.change !== undefined) changed.numbers.push(reply.change);
  }
  return changed;
}

/** Takes it back, as far as nobody changed the rows since. */
export async function takeBack({ numbers }: Changed): Promise<void> {
  for (const change of numbers.toReversed()) await call(inboxApi.undo, { body: { change } });
}

/** As many ids as a call takes, each. */
export function partsOf(ids: readonly number[]): number[][] {
  const parts: number[][] = [];
  for (let from = 0; from < ids.length; from += callLimit) parts.push(ids.slice(from, from + callLimit));
  return parts;
}
