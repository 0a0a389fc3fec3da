import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import type { Monitors } from './monitors.ts';
import type { Recorder } from './recorder.ts';
import type { Watched } from './monitor-state.ts';

/** A host may be found down so much later than what runs on it. */
const togetherMs = 30_000;

/** Whether the fault of what a monitor depends on speaks for its own; the end of one that was silent is silent too. */
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

/** It is down, or was at that moment. */
function wasDown({ standing, outageSince }: Watched, at: number): boolean {
  if (standing.status === heartbeatStatus.down) return true;
  return outageSince !== null && outageSince <= at + togetherMs && standing.since !== null && standing.since >= at;
}
