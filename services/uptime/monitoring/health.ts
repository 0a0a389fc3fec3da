import type { Health } from '../../contracts/health.ts';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { joinNames } from '../../kit/join-names.ts';
import type { Checker } from '../check/checker.ts';
import type { Monitors } from './monitors.ts';
import type { Recorder } from './recorder.ts';

/** Returns the health of the service with the names of the monitors that are down. */
export function getHealth(dependencies: {
  readonly monitors: Monitors;
  readonly recorder: Recorder;
  readonly checker: Checker;
}): Health {
  const { monitors, recorder, checker } = dependencies;
  if (recorder.hasFailed) return { state: 'degraded', detail: 'what was checked cannot be written' };
  const quarantined = monitors.all().filter(({ quarantinedAt }) => quarantinedAt !== null);
  const [paused] = quarantined;
  if (paused !== undefined) {
    const names = joinNames(quarantined.map(({ config }) => config.name));
    const detail = `paused because Homeport stopped working during the check: ${names}`;
    return { state: 'degraded', detail, remedy: { label: 'Resume it', to: `/uptime/monitors/${String(paused.id)}` } };
  }
  if (checker.problem !== undefined) return { state: 'degraded', detail: checker.problem };
  const active = monitors.all().filter((monitor) => monitors.isActive(monitor));
  if (active.length === 0) {
    return { state: 'up', detail: 'nothing to watch', begin: { label: 'Watch a first address', to: '/uptime' } };
  }
  const down = active.filter(({ checkState }) => checkState.status === heartbeatStatus.down);
  const upCount = active.filter(({ checkState }) => checkState.status === heartbeatStatus.up).length;
  const uncheckedCount = active.filter(({ checkState }) => checkState.status === null).length;
  const [first, second] = down;
  if (first === undefined) {
    const countText = `${String(active.length)} watched`;
    return {
      state: 'up',
      detail:
        uncheckedCount === 0 ? `${countText}, all well` : `${countText}, ${String(uncheckedCount)} not checked yet`,
    };
  }
  const verb = second === undefined ? 'is' : 'are';
  const to = second === undefined ? `/uptime/monitors/${String(first.id)}` : '/uptime';
  const othersText = upCount === 0 ? '' : `, ${String(upCount)} ${upCount === 1 ? 'other is' : 'others are'} well`;
  const detail = `${joinNames(down.map(({ config }) => config.name))} ${verb} down${othersText}`;
  return { state: 'up', detail, remedy: { label: 'See what is down', to } };
}
