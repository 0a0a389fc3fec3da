import type { Heartbeat } from '../../../../../services/contracts/uptime/views.ts';

/** Period in which the status of a monitor did not change. */
export interface StatusPeriod {
  readonly status: Heartbeat['status'];
  readonly msg: string;
  readonly failure?: Heartbeat['failure'];
  readonly began: number;
  /** End in ms since the epoch; undefined for the current status. */
  readonly until: number | undefined;
}

/**
 * Builds the status history of a monitor, newest first. Consecutive heartbeats with the same status are merged.
 *
 * @param since Start of the current status. It may precede the first heartbeat of an imported monitor.
 */
export function buildStatusHistory(changes: readonly Heartbeat[], since: number | null): readonly StatusPeriod[] {
  const [newest, ...older] = changes
    .filter(({ status }, index) => changes[index + 1]?.status !== status)
    .map(({ status, msg, failure, time }) => ({
      status,
      msg,
      failure,
      began: Date.parse(`${time.replace(' ', 'T')}Z`),
    }));
  if (newest === undefined) return [];
  const began = older.length === 0 && since !== null ? Math.min(newest.began, since) : newest.began;
  return [{ ...newest, began }, ...older].map((period, index, periods) => ({
    ...period,
    until: periods[index - 1]?.began,
  }));
}
