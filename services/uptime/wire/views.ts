import type { Heartbeat, Monitor, MonitorRow, MonitorState } from '../../contracts/uptime/views.ts';
import { heartbeatStatus, secretFields } from '../../contracts/uptime/monitor.ts';
import { certificateDays } from '../domain/certificate.ts';
import { targetOf } from '../domain/target.ts';
import { uptimeByTime } from '../domain/tally.ts';
import { peerTime } from '../domain/time-format.ts';
import type { StoredBeat } from '../store/heartbeats.ts';
import { problemsOf } from '../monitoring/monitor-problems.ts';
import { lastDay, type Watched } from '../monitoring/monitor-state.ts';
import { redactedFields, redactedNames } from './redacted.ts';

/** Converts a heartbeat into its API form. */
export function beatView(beat: StoredBeat): Heartbeat {
  const { monitorId, status, at, msg, ping, important, duration, retries } = beat;
  return { monitorID: monitorId, status, time: peerTime(at), msg, ping, important, duration, retries };
}

export function stateView(watched: Watched, now: number): MonitorState {
  const { standing, chain, slowness, flapping } = watched;
  const problems = problemsOf(watched);
  return {
    status: standing.status,
    msg: standing.msg,
    ping: standing.ping,
    time: standing.at,
    since: standing.since,
    uptime24h: uptimeByTime(lastDay(watched, now)),
    certDays: certificateDays(chain, now),
    degraded: slowness.slowSince !== null,
    flapping: flapping.flapping,
    ...(problems.length === 0 ? {} : { problems }),
  };
}

export function rowView(watched: Watched, active: boolean, now: number): MonitorRow {
  const { id, config } = watched;
  const { status, msg, ping, since, uptime24h, certDays, degraded, flapping, problems } = stateView(watched, now);
  return {
    id,
    name: config.name,
    type: config.type,
    target: targetOf(config),
    active,
    ...(config.parent === null ? {} : { parent: config.parent }),
    state: {
      status,
      ping,
      since,
      uptime24h: uptime24h === null ? null : Math.floor(uptime24h * 1e5) / 1e5,
      ...(status === heartbeatStatus.up ? {} : { msg }),
      ...(certDays === null ? {} : { certDays }),
      ...(degraded ? { degraded } : {}),
      ...(flapping ? { flapping } : {}),
      ...(problems === undefined ? {} : { problems }),
    },
  };
}

/**
 * Returns all fields except secrets, which are only listed by name. Accounts without write permission see no
 * credentials.
 */
export function monitorView(watched: Watched, now: number, mayWrite: boolean): Monitor {
  const { id, config } = watched;
  const secret = new Set<string>(secretFields);
  const isSet = (field: string): boolean => typeof config[field] === 'string' && config[field] !== '';
  const visible = Object.fromEntries(Object.entries(config).filter(([name]) => !secret.has(name)));
  return {
    ...((mayWrite ? visible : redactedFields(visible)) as typeof config),
    id,
    state: stateView(watched, now),
    secrets: [...secretFields.filter(isSet), ...(mayWrite ? [] : redactedNames(visible))],
  };
}
