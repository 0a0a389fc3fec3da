import type { Heartbeat } from '../../../../services/contracts/uptime/views.ts';

/** How a monitor stood for a while. */
export interface Stretch {
  readonly status: Heartbeat['status'];
  readonly msg: string;
  readonly began: number;
  /** Undefined: it still stands so. */
  readonly until: number | undefined;
}

/**
 * The changes of a monitor, newest first, each with when the next came; what says the same again is no change. It may stand
 * as it does for longer than its first check here: another program has watched it before.
 */
export function historyOf(changes: readonly Heartbeat[], since: number | null): readonly Stretch[] {
  const [newest, ...older] = changes
    .filter(({ status }, at) => changes[at + 1]?.status !== status)
    .map(({ status, msg, time }) => ({ status, msg, began: Date.parse(`${time.replace(' ', 'T')}Z`) }));
  if (newest === undefined) return [];
  const began = older.length === 0 && since !== null ? Math.min(newest.began, since) : newest.began;
  return [{ ...newest, began }, ...older].map((one, at, all) => ({ ...one, until: all[at - 1]?.began }));
}
