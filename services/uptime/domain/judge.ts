import type { CodedFailure } from '../../contracts/uptime/causes.ts';
import { heartbeatStatus, type HeartbeatStatus } from '../../contracts/uptime/monitor.ts';

/** Result of a check before retries, upside-down mode and history are applied. */
export interface Outcome {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Up, down or pending, such as a starting container. */
  readonly status: HeartbeatStatus;
  readonly msg: string;
  /** Failure that the check states, for a text in any language. */
  readonly failure?: CodedFailure;
  readonly ping: number | null;
  /** The check failed because of its status code, for `retryOnlyOnStatusCodeFailure`. */
  readonly byStatusCode?: boolean;
  /** The target was not contacted; the outcome is down, also in upside-down mode. */
  readonly notChecked?: boolean;
  /** The message was reported by a job and is kept in upside-down mode. */
  readonly isReport?: boolean;
}

/** Rules that are applied to the outcomes of a monitor. */
export interface MonitorRules {
  readonly maxretries: number;
  readonly resendInterval: number;
  readonly upsideDown: boolean;
  readonly retryOnlyOnStatusCodeFailure: boolean;
}

/** State of a monitor after its latest heartbeat. Stored as JSON, so the names must not change. */
export interface CheckState {
  readonly status: HeartbeatStatus | null;
  readonly msg: string;
  readonly failure?: CodedFailure;
  readonly ping: number | null;
  readonly at: number | null;
  readonly since: number | null;
  readonly retries: number;
  /** Down heartbeats since the last notification. */
  readonly downBeats: number;
  /** Start of the outage that was reported and whose end was not; kept during maintenance. */
  readonly downSince: number | null;
}

export const initialCheckState: CheckState = {
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
export interface JudgedHeartbeat {
  readonly at: number;
  readonly status: HeartbeatStatus;
  readonly msg: string;
  readonly failure?: CodedFailure;
  readonly ping: number | null;
  /** Belongs to the history of state changes. */
  readonly important: boolean;
  readonly retries: number;
  /** Seconds since the previous heartbeat. */
  readonly duration: number;
}

/** Reason for a notification: outage, recovery or reminder of an outage. */
export type NotificationTrigger = 'down' | 'up' | 'repeat';

export interface Verdict {
  readonly heartbeat: JudgedHeartbeat;
  readonly state: CheckState;
  readonly notification: NotificationTrigger | undefined;
}

const { down, up, pending, maintenance } = heartbeatStatus;

/**
 * Applies the rules of Uptime Kuma to an outcome, with two differences: the recovery of an outage that was reported
 * before maintenance is reported after it, and reminders are counted from the last notification.
 */
export function judge(rules: MonitorRules, previous: CheckState, outcome: Outcome): Verdict {
  const effective = outcome.status === maintenance ? outcome : applyUpsideDown(rules, outcome);
  const canRetry = !rules.retryOnlyOnStatusCodeFailure || outcome.byStatusCode === true;
  const isRetry = effective.status === down && previous.retries < rules.maxretries && canRetry;
  const status = isRetry ? pending : effective.status;
  const retries =
    effective.status === up || effective.status === maintenance ? 0 : isRetry ? previous.retries + 1 : previous.retries;
  const duration = previous.at === null ? 0 : Math.max(0, Math.round((outcome.at - previous.at) / 1000));
  const important = isImportant(previous.status, status);
  const message = toMessage(effective);
  const heartbeat = { at: outcome.at, status, ...message, ping: effective.ping, important, retries, duration };
  const trigger = getNotificationTrigger(rules, previous, status);
  const isDownNotification = trigger === 'down' || trigger === 'repeat';
  return {
    heartbeat,
    notification: trigger,
    state: {
      status,
      ...message,
      ping: effective.ping,
      at: outcome.at,
      since: previous.status === status && previous.since !== null ? previous.since : outcome.at,
      retries,
      downBeats: status !== down || isDownNotification ? 0 : previous.downBeats + 1,
      downSince: trigger === 'up' ? null : trigger === 'down' ? (previous.downSince ?? outcome.at) : previous.downSince,
    },
  };
}

/** Returns the state with an earlier start. */
export function withEarlierStart(state: CheckState, since: number): CheckState {
  return { ...state, since, downSince: state.downSince === null ? null : since };
}

/** Excludes retries from the history of state changes. */
function isImportant(previous: HeartbeatStatus | null, current: HeartbeatStatus): boolean {
  if (previous === null) return true;
  if (previous === current) return false;
  if (previous === maintenance || current === maintenance) return true;
  return current === down || (previous === down && current === up);
}

function getNotificationTrigger(
  rules: MonitorRules,
  previous: CheckState,
  status: HeartbeatStatus,
): NotificationTrigger | undefined {
  if (status === up) return previous.downSince === null ? undefined : 'up';
  if (status !== down) return undefined;
  if (previous.status !== down) return 'down';
  return rules.resendInterval > 0 && previous.downBeats + 1 >= rules.resendInterval ? 'repeat' : undefined;
}

function toMessage({ msg, failure }: Outcome): Pick<Outcome, 'msg' | 'failure'> {
  return failure === undefined ? { msg } : { msg, failure };
}

function applyUpsideDown(rules: MonitorRules, outcome: Outcome): Outcome {
  if (!rules.upsideDown || outcome.status === pending || outcome.notChecked === true) return outcome;
  return outcome.status === up
    ? { ...outcome, status: down, msg: outcome.isReport === true ? outcome.msg : 'Flip UP to DOWN' }
    : { ...outcome, status: up, ping: outcome.ping };
}
