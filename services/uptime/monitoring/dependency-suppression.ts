import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import type { Monitors } from './monitors.ts';
import type { Recorder } from './recorder.ts';
import type { Watched } from './monitor-state.ts';

/** Maximum delay with which a host is detected as down after a monitor that depends on it. */
const togetherMs = 30_000;

/**
 * Returns true when an event is suppressed because a dependency of the monitor is down. The recovery of a suppressed
 * outage is suppressed as well.
 */
export function isCovered(
  { monitors, recorder }: { readonly monitors: Pick<Monitors, 'find'>; readonly recorder: Pick<Recorder, 'note'> },
  event: { readonly kind: string; readonly id: number; readonly hosts: readonly number[]; readonly at: number },
): boolean {
  const { kind, id, at } = event;
  const watched = monitors.find(id);
  if (watched === undefined) return false;
  const before = watched.silenced;
  const hosts = event.hosts.flatMap((host) => monitors.find(host) ?? []);
  if (kind === 'down') watched.silenced = hosts.some((host) => wasDown(host, at));
  else if (kind === 'up') watched.silenced = false;
  if (before !== watched.silenced) recorder.note(watched);
  return kind === 'down' ? watched.silenced : kind === 'up' && before;
}

/** Returns true when the monitor is down, or was down at that time. */
function wasDown({ standing, outageSince }: Watched, at: number): boolean {
  if (standing.status === heartbeatStatus.down) return true;
  return outageSince !== null && outageSince <= at + togetherMs && standing.since !== null && standing.since >= at;
}
