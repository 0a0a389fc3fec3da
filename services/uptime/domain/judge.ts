import { heartbeatStatus, type HeartbeatStatus } from '../../contracts/uptime/monitor.ts';

/** Result of a check before retries, upside-down mode and history are applied. */
export interface Outcome {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Up, down or pending, such as a starting container. */
  readonly status: HeartbeatStatus;
  readonly msg: string;
  readonly ping: number | null;
  /** The check failed because of its status code, for `retryOnlyOnStatusCodeFailure`. */
  readonly byStatusCode?: boolean;
  /** The target was not contacted; the outcome is down, also in upside-down mode. */
  readonly notChecked?: boolean;
  /** The message was reported by a job and is kept in upside-down mode. */
  readonly isReport?: boolean;
}

/** Rules that are applied to the outcomes of a monitor. */
export interface Rules {
  readonly maxretries: number;
  readonly resendInterval: number;
  readonly upsideDown: boolean;
  readonly retryOnlyOnStatusCodeFailure: boolean;
}

/** State of a monitor after its latest heartbeat. Stored as JSON, so the names must not change. */
export interface Standing {
  readonly status: HeartbeatStatus | null;
  readonly msg: string;
  readonly ping: number | null;
  readonly at: number | null;
  readonly since: number | null;
  readonly retries: number;
  /** Down heartbeats since the last notification. */
  readonly downBeats: number;
  /** Start of the outage that was reported and whose end was not; kept during maintenance. */
  readonly downSince: number | null;
}

export const unknownStanding: Standing = {
  status: null,
  msg: '',
  ping: null,
  at: null,
  since: null,
  retries: 0,
  downBeats: 0,
  downSince: null,
};

/** Heartbeat in its stored form. */
export interface JudgedBeat {
  readonly at: number;
  readonly status: HeartbeatStatus;
  readonly msg: string;
  readonly ping: number | null;
  /** Belongs to the history of state changes. */
  readonly important: boolean;
  readonly retries: number;
  /** Seconds since the previous heartbeat. */
  readonly duration: number;
}

/** Reason for a notification: outage, recovery or reminder of an outage. */
export type Told = 'down' | 'up' | 'repeat';

export interface Verdict {
  readonly beat: JudgedBeat;
  readonly standing: Standing;
  readonly tell: Told | undefined;
}

const { down, up, pending, maintenance } = heartbeatStatus;

/**
 * Applies the rules of Uptime Kuma to an outcome, with two differences: the recovery of an outage that was reported
 * before maintenance is reported after it, and reminders are counted from the last notification.
 */
export function judge(rules: Rules, before: Standing, outcome: Outcome): Verdict {
  const seen = outcome.status === maintenance ? outcome : flipped(rules, outcome);
  const mayRetry = !rules.retryOnlyOnStatusCodeFailure || outcome.byStatusCode === true;
  const retrying = seen.status === down && before.retries < rules.maxretries && mayRetry;
  const status = retrying ? pending : seen.status;
  const retries =
    seen.status === up || seen.status === maintenance ? 0 : retrying ? before.retries + 1 : before.retries;
  const duration = before.at === null ? 0 : Math.max(0, Math.round((outcome.at - before.at) / 1000));
  const important = isImportant(before.status, status);
  const beat = { at: outcome.at, status, msg: seen.msg, ping: seen.ping, important, retries, duration };
  const tell = tellOf(rules, before, status);
  const told = tell === 'down' || tell === 'repeat';
  return {
    beat,
    tell,
    standing: {
      status,
      msg: seen.msg,
      ping: seen.ping,
      at: outcome.at,
      since: before.status === status && before.since !== null ? before.since : outcome.at,
      retries,
      downBeats: status !== down || told ? 0 : before.downBeats + 1,
      downSince: tell === 'up' ? null : tell === 'down' ? (before.downSince ?? outcome.at) : before.downSince,
    },
  };
}

/** Returns the state with an earlier start. */
export function stoodSince(standing: Standing, since: number): Standing {
  return { ...standing, since, downSince: standing.downSince === null ? null : since };
}

/** Excludes retries from the history of state changes. */
function isImportant(before: HeartbeatStatus | null, after: HeartbeatStatus): boolean {
  if (before === null) return true;
  if (before === after) return false;
  if (before === maintenance || after === maintenance) return true;
  return after === down || (before === down && after === up);
}

function tellOf(rules: Rules, before: Standing, status: HeartbeatStatus): Told | undefined {
  if (status === up) return before.downSince === null ? undefined : 'up';
  if (status !== down) return undefined;
  if (before.status !== down) return 'down';
  return rules.resendInterval > 0 && before.downBeats + 1 >= rules.resendInterval ? 'repeat' : undefined;
}

function flipped(rules: Rules, outcome: Outcome): Outcome {
  if (!rules.upsideDown || outcome.status === pending || outcome.notChecked === true) return outcome;
  return outcome.status === up
    ? { ...outcome, status: down, msg: outcome.isReport === true ? outcome.msg : 'Flip UP to DOWN' }
    : { ...outcome, status: up, ping: outcome.ping };
}
