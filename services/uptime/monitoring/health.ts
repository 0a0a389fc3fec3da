import * as m from '#messages/uptime-texts';
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
  if (recorder.hasFailed) return { state: 'degraded', detail: m.healthNotWritten };
  const quarantined = monitors.all().filter(({ quarantinedAt }) => quarantinedAt !== null);
  const [paused] = quarantined;
  if (paused !== undefined) {
    const names = quarantined.map(({ config }) => config.name);
    return {
      state: 'degraded',
      detail: () => m.healthPaused({ names: joinNames(names) }),
      remedy: { label: m.resumeMonitor, to: `/uptime/monitors/${String(paused.id)}` },
    };
  }
  if (checker.wasInterrupted) return { state: 'degraded', detail: m.healthInterrupted };
  const active = monitors.all().filter((monitor) => monitors.isActive(monitor));
  const count = active.length;
  if (count === 0) return { state: 'up', detail: m.healthNoMonitors, begin: { label: m.addMonitor, to: '/uptime' } };
  const down = active.filter(({ checkState }) => checkState.status === heartbeatStatus.down);
  const up = active.filter(({ checkState }) => checkState.status === heartbeatStatus.up).length;
  const unchecked = active.filter(({ checkState }) => checkState.status === null).length;
  const [first, second] = down;
  if (first === undefined)
    return {
      state: 'up',
      detail: () => (unchecked === 0 ? m.healthUp({ count }) : m.healthUnchecked({ count, unchecked })),
    };
  const names = down.map(({ config }) => config.name);
  return {
    state: 'up',
    detail: () => formatDown(names, up),
    remedy:
      second === undefined
        ? { label: m.viewMonitor, to: `/uptime/monitors/${String(first.id)}` }
        : { label: m.viewMonitors, to: '/uptime' },
  };
}

function formatDown(down: readonly string[], up: number): string {
  const values = { count: down.length, names: joinNames(down) };
  return up === 0 ? m.healthDown(values) : m.healthDownOthersUp({ ...values, up });
}
