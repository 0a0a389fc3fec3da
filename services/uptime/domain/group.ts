import { beatStatus, type BeatStatus } from '../../contracts/uptime/monitor.ts';

/** A member of a group that is not paused. */
export interface Member {
  readonly name: string;
  readonly status: BeatStatus | null;
}

/** How a group stands by its members. */
export function judgeGroup(members: readonly Member[]): { readonly status: BeatStatus; readonly msg: string } {
  if (members.length === 0) return { status: beatStatus.pending, msg: 'Group empty' };
  const down = members.filter(({ status }) => status === beatStatus.down);
  if (down.length > 0) {
    return { status: beatStatus.down, msg: `Child monitors down: ${down.map(({ name }) => name).join(', ')}` };
  }
  const waiting = members.filter(({ status }) => status === beatStatus.pending || status === null);
  if (waiting.length > 0) {
    return { status: beatStatus.pending, msg: `Child monitors pending: ${waiting.map(({ name }) => name).join(', ')}` };
  }
  return { status: beatStatus.up, msg: 'All children up and running' };
}
