import { heartbeatStatus, type HeartbeatStatus } from '../../contracts/uptime/monitor.ts';

/** Active member of a group. */
export interface GroupMember {
  readonly name: string;
  readonly status: HeartbeatStatus | null;
}

/** Determines the status of a group from its members. */
export function judgeGroup(members: readonly GroupMember[]): {
  readonly status: HeartbeatStatus;
  readonly msg: string;
} {
  if (members.length === 0) return { status: heartbeatStatus.pending, msg: 'Group empty' };
  const down = members.filter(({ status }) => status === heartbeatStatus.down);
  if (down.length > 0) {
    return { status: heartbeatStatus.down, msg: `Child monitors down: ${down.map(({ name }) => name).join(', ')}` };
  }
  const pending = members.filter(({ status }) => status === heartbeatStatus.pending || status === null);
  if (pending.length > 0) {
    return {
      status: heartbeatStatus.pending,
      msg: `Child monitors pending: ${pending.map(({ name }) => name).join(', ')}`,
    };
  }
  return { status: heartbeatStatus.up, msg: 'All children up and running' };
}
