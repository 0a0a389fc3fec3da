import { heartbeatStatus, type HeartbeatStatus } from '../../contracts/uptime/monitor.ts';

/** What a check found out, before retries, upside-down and history are looked at. */
export interface Outcome {
  /** ms since the epoch. */
  readonly at: number;
  /** Down, up or pending, such as a container that is starting. */
  readonly status: HeartbeatStatus;
  readonly msg: string;
  readonly ping: number | null;
  /** It failed by its status code, for who retries only then. */
  readonly byStatusCode?: boolean;
  /** The target was not asked: the outcome is down, also upside down. */
  readonly notChecked?: boolean;
  /** The message is one that a job reported, which is kept upside down. */
  readonly isReport?: boolean;
}

/** The rules of a monitor that its history is judged by. */
export interface Rules {
  readonly maxretries: number;
  readonly resendInterval: number;
  readonly upsideDown: boolean;
  readonly retryOnlyOnStatusCodeFailure: boolean;
}

/** How a monitor stands after its beats so far. */
export interface Standing {
  readonly status: HeartbeatStatus | null;
  readonly msg: string;
  readonly ping: number | null;
  readonly at: number | null;
  readonly since: number | null;
  readonly retries: number;
  /** Beats it was down since that was told last. */
  readonly downBeats: number;
  /** When the outage began that people were told of and that is not over for them; also through maintenance. */
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

/** A beat as it is stored. */
export interface JudgedBeat {
  readonly at: number;
  readonly status: HeartbeatStatus;
  readonly msg: string;
  readonly ping: number | null;
  /** It belongs to the history of states. */
  readonly important: boolean;
  readonly retries: number;
  /** Seconds since the beat before. */
  readonly duration: number;
}

/** What people are to be told: of a fault, its end, or that it lasts. */
export type Told = 'down' | 'up' | 'repeat';

export interface Verdict {
  readonly beat: JudgedBeat;
  readonly standing: Standing;
  readonly tell: Told | undefined;
}

const { down, up, pending, maintenance } = heartbeatStatus;

/**
 * Judges one outcome by the peer's rules, with two differences: an outage that was told of before maintenance gets its end
 * after it, and a repeat counts from the last time that something was told.
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

/** The same, when it has been so since an earlier moment than was known. */
export function stoodSince(standing: Standing, since: number): Standing {
  return { ...standing, since, downSince: standing.downSince === null ? null : since };
}

/** The history of states leaves out what is only tried again. */
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
