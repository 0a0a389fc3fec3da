import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import type { Monitors } from './monitors.ts';
import type { Recorder } from './recorder.ts';
import type { RuntimeMonitor } from './monitor-state.ts';

/** Maximum delay with which a host is detected as down after a monitor that depends on it. */
const detectionDelayMs = 30_000;

/**
 * Returns true when an event is suppressed because a dependency of the monitor is down. The recovery of a suppressed
 * outage is suppressed as well.
 */
export function isSuppressed(
  { monitors, recorder }: { readonly monitors: Pick<Monitors, 'find'>; readonly recorder: Pick<Recorder, 'saveState'> },
  event: { readonly kind: string; readonly id: number; readonly hosts: readonly number[]; readonly at: number },
): boolean {
  const { kind, id, at } = event;
  const monitor = monitors.find(id);
  if (monitor === undefined) return false;
  const wasSuppressed = monitor.silenced;
  const hosts = event.hosts.flatMap((host) => monitors.find(host) ?? []);
  if (kind === 'down') monitor.silenced = hosts.some((host) => wasDown(host, at));
  else if (kind === 'up') monitor.silenced = false;
  if (wasSuppressed !== monitor.silenced) recorder.saveState(monitor);
  return kind === 'down' ? monitor.silenced : kind === 'up' && wasSuppressed;
}

/** Returns true when the monitor is down, or was down at that time. */
function wasDown({ checkState, outageSince }: RuntimeMonitor, at: number): boolean {
  if (checkState.status === heartbeatStatus.down) return true;
  return (
    outageSince !== null && outageSince <= at + detectionDelayMs && checkState.since !== null && checkState.since >= at
  );
}
