import type { Health } from '../../contracts/health.ts';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { joinNames } from '../../kit/join-names.ts';
import type { Checker } from '../check/checker.ts';
import type { Monitors } from './monitors.ts';
import type { Recorder } from './recorder.ts';

/** Returns the health of the service with the names of the monitors that are down. */
export function healthOf(parts: {
  readonly monitors: Monitors;
  readonly recorder: Recorder;
  readonly checker: Checker;
}): Health {
  const { monitors, recorder, checker } = parts;
  if (recorder.isBehind) return { state: 'degraded', detail: 'what was checked cannot be written' };
  const quarantined = monitors.all().filter(({ quarantinedAt }) => quarantinedAt !== null);
  const [paused] = quarantined;
  if (paused !== undefined) {
    const names = joinNames(quarantined.map(({ config }) => config.name));
    const detail = `paused because Homeport stopped working during the check: ${names}`;
    return { state: 'degraded', detail, remedy: { label: 'Resume it', to: `/uptime/monitors/${String(paused.id)}` } };
  }
  if (checker.problem !== undefined) return { state: 'degraded', detail: checker.problem };
  const active = monitors.all().filter((watched) => monitors.isActive(watched));
  if (active.length === 0) {
    return { state: 'up', detail: 'nothing to watch', begin: { label: 'Watch a first address', to: '/uptime' } };
  }
  const down = active.filter(({ standing }) => standing.status === heartbeatStatus.down);
  const well = active.filter(({ standing }) => standing.status === heartbeatStatus.up).length;
  const unknown = active.filter(({ standing }) => standing.status === null).length;
  const [first, another] = down;
  if (first === undefined) {
    const all = `${String(active.length)} watched`;
    return { state: 'up', detail: unknown === 0 ? `${all}, all well` : `${all}, ${String(unknown)} not checked yet` };
  }
  const are = another === undefined ? 'is' : 'are';
  const to = another === undefined ? `/uptime/monitors/${String(first.id)}` : '/uptime';
  const others = well === 0 ? '' : `, ${String(well)} ${well === 1 ? 'other is' : 'others are'} well`;
  const detail = `${joinNames(down.map(({ config }) => config.name))} ${are} down${others}`;
  return { state: 'up', detail, remedy: { label: 'See what is down', to } };
}
