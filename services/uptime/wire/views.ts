import type { Heartbeat, Monitor, MonitorRow, MonitorState } from '../../contracts/uptime/views.ts';
import { heartbeatStatus, secretFields } from '../../contracts/uptime/monitor.ts';
import { getCertificateDays } from '../domain/certificate.ts';
import { getTarget } from '../domain/target.ts';
import { getUptimeByTime } from '../domain/tally.ts';
import { formatKumaTime } from '../domain/time-format.ts';
import type { StoredHeartbeat } from '../store/heartbeats.ts';
import { getProblems } from '../monitoring/monitor-problems.ts';
import { getLastDayTally, type RuntimeMonitor } from '../monitoring/monitor-state.ts';
import { getTags } from './kuma-monitor.ts';
import { redactedFields, redactedNames } from './redacted.ts';

/** Converts a heartbeat into its API form. */
export function toHeartbeatView(heartbeat: StoredHeartbeat): Heartbeat {
  const { monitorId, status, at, msg, failure, ping, important, duration, retries } = heartbeat;
  const message = failure === undefined ? { msg } : { msg, failure };
  return { monitorID: monitorId, status, time: formatKumaTime(at), ...message, ping, important, duration, retries };
}

/** Time in ms from which on the uptime of a group is known: its first checks precede those of its members. */
const minGroupTimeMs = 60_000;

/** Returns the share of up time of the last 24 hours; null while too little is known. */
function getUptimeOfDay(monitor: RuntimeMonitor, now: number): number | null {
  const tally = getLastDayTally(monitor, now);
  if (monitor.config.type === 'group' && tally.upMs + tally.downMs < minGroupTimeMs) return null;
  return getUptimeByTime(tally);
}

export function toStateView(monitor: RuntimeMonitor, now: number): MonitorState {
  const { checkState, chain, slowness, flapping } = monitor;
  return {
    status: checkState.status,
    msg: checkState.msg,
    ...(checkState.failure === undefined ? {} : { failure: checkState.failure }),
    ping: checkState.ping,
    time: checkState.at,
    since: checkState.since,
    uptime24h: getUptimeOfDay(monitor, now),
    certDays: getCertificateDays(chain, now),
    degraded: slowness.slowSince !== null,
    flapping: flapping.flapping,
  };
}

export function toRowView(monitor: RuntimeMonitor, active: boolean, now: number): MonitorRow {
  const { id, config } = monitor;
  const state = toStateView(monitor, now);
  const { status, msg, failure, ping, since, uptime24h, certDays, degraded, flapping } = state;
  const tags = [...new Set(getTags(monitor).map(({ tag_id: tag }) => tag))];
  return {
    id,
    name: config.name,
    type: config.type,
    target: getTarget(config),
    active,
    ...(config.parent === null ? {} : { parent: config.parent }),
    ...(config.weight === null ? {} : { weight: config.weight }),
    ...(tags.length === 0 ? {} : { tags }),
    state: {
      status,
      ping,
      since,
      uptime24h: uptime24h === null ? null : Math.floor(uptime24h * 1e5) / 1e5,
      ...(status === heartbeatStatus.up ? {} : { msg, ...(failure === undefined ? {} : { failure }) }),
      ...(certDays === null ? {} : { certDays }),
      ...(degraded ? { degraded } : {}),
      ...(flapping ? { flapping } : {}),
    },
  };
}

/**
 * Returns all fields except secrets, which are only listed by name. Accounts without write permission see no
 * credentials.
 */
export function toMonitorView(monitor: RuntimeMonitor, now: number, canWrite: boolean): Monitor {
  const { id, config } = monitor;
  const secretNames = new Set<string>(secretFields);
  const isSet = (field: string): boolean => typeof config[field] === 'string' && config[field] !== '';
  const visible = Object.fromEntries(Object.entries(config).filter(([name]) => !secretNames.has(name)));
  const problems = getProblems(monitor);
  return {
    ...((canWrite ? visible : redactedFields(visible)) as typeof config),
    id,
    state: { ...toStateView(monitor, now), ...(problems.length === 0 ? {} : { problems }) },
    secrets: [...secretFields.filter(isSet), ...(canWrite ? [] : redactedNames(visible))],
  };
}
