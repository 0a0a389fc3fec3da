import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import type { SecurityEvent, SecurityEventName } from '../../../services/contracts/control/security-log.ts';
import type { Clock, Log } from '../../../services/contracts/service.ts';
import { LruMap } from '../../../services/kit/lru-map.ts';

/** Name of the security log's entries. */
export const securityLogName = 'security';

/** Facts about the current request. */
interface RequestScope {
  readonly service: string;
  readonly address: string;
  account?: string;
  /** The refusal of the sign-in was recorded, which has the same status as that of a rate limit. */
  isSignInBlocked?: boolean;
}

/** Maximum lines of one event, address and account in the window; the next line has the number of omitted ones. */
const maxRepeats = 20;
/** Maximum lines of one event and address in the window, whatever accounts a client names. */
const maxRepeatsOfAddress = 100;
const repeatWindowMs = 60_000;
/** An account that authenticates with every request is recorded as signed in once per address within this time. */
const signInWindowMs = 24 * 60 * 60_000;

const messages: Readonly<Record<SecurityEventName, string>> = {
  sign_in: 'signed in',
  sign_in_failed: 'sign-in failed',
  sign_in_blocked: 'sign-in blocked after too many attempts',
  sign_out: 'signed out',
  access_refused: 'access refused',
  rate_limited: 'request refused by a rate limit',
  account_created: 'account created',
  account_removed: 'account removed',
  account_changed: 'account changed',
  role_changed: 'role changed',
  grants_changed: 'grants changed',
  password_changed: 'password changed',
  token_created: 'token created',
  token_revoked: 'token revoked',
  session_ended: 'session ended',
  link_created: 'one-time link created',
  link_revoked: 'one-time link revoked',
  link_used: 'one-time link used',
  second_factor_required: 'second factor required',
  second_factor_enabled: 'second factor enabled',
  second_factor_disabled: 'second factor disabled',
  passkey_added: 'passkey added',
  passkey_removed: 'passkey removed',
  recovery_code_used: 'recovery code used',
  recovery_codes_replaced: 'recovery codes replaced',
  settings_changed: 'settings changed',
  data_exported: 'data exported',
  backup_created: 'backup created',
  backup_downloaded: 'backup downloaded',
  backup_restored: 'backup restored',
};

const warnings: ReadonlySet<SecurityEventName> = new Set([
  'sign_in_failed',
  'sign_in_blocked',
  'access_refused',
  'rate_limited',
]);
/** Events that any client can cause without end, so their lines are limited. */
const limited: ReadonlySet<SecurityEventName> = new Set([
  ...warnings,
  'sign_in',
  'sign_out',
  'second_factor_required',
  'data_exported',
]);

/** Writes security events to the main log, with the address and account of the request that caused them. */
export interface SecurityLog {
  record(event: SecurityEvent): void;
  /**
   * Records the sign-in of a program that authenticates with each request; `credential` distinguishes its
   * credentials.
   */
  recordUse(event: Omit<SecurityEvent, 'event'>, credential: string): void;
  /** Handles a request within its scope, and records a refusal. */
  answering<T>(
    scope: { service: string; address: string },
    event: string,
    response: ServerResponse | undefined,
    work: () => T,
  ): T;
  /** Sets the account of the current request. */
  identified(account: string): void;
}

/** Limits the lines of events that any client can cause without end. */
class RepeatLimiter {
  readonly #clock: Clock;
  readonly #windows = new LruMap<string, { until: number; count: number }>(2000);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Counts a line. Returns the number of lines omitted before this one; undefined when this one is omitted as well.
   */
  count(event: SecurityEventName, address = '', account = ''): number | undefined {
    if (!limited.has(event)) return 0;
    const ofAccount = this.#countOmitted(`${event}\0${address}\0${account}`, maxRepeats);
    if (ofAccount === undefined) return undefined;
    const ofAddress = this.#countOmitted(`${event}\0${address}`, maxRepeatsOfAddress);
    return ofAddress === undefined ? undefined : Math.max(ofAccount, ofAddress);
  }

  #countOmitted(key: string, max: number): number | undefined {
    const now = this.#clock.now();
    const existing = this.#windows.get(key);
    if (existing === undefined || existing.until <= now) {
      this.#windows.set(key, { until: now + repeatWindowMs, count: 1 });
      return existing === undefined ? 0 : Math.max(0, existing.count - max);
    }
    existing.count += 1;
    return existing.count > max ? undefined : 0;
  }
}

/** @param log the log of the part `security` */
export function createSecurityLog(log: Log, clock: Clock): SecurityLog {
  const scopes = new AsyncLocalStorage<RequestScope>();
  const repeats = new RepeatLimiter(clock);
  const uses = new LruMap<string, number>(5000);

  const record = (entry: SecurityEvent): void => {
    const scope = scopes.getStore();
    if (scope !== undefined && entry.event === 'sign_in_blocked') scope.isSignInBlocked = true;
    const { event, account = scope?.account, address = scope?.address, service = scope?.service, detail } = entry;
    const by = entry.by ?? scope?.account;
    const isWarning = warnings.has(event);
    const suppressed = repeats.count(event, address, account);
    if (suppressed === undefined) return;
    // The address precedes every value that a client can choose, so a fail2ban filter cannot match another one.
    const fields = {
      event,
      address: address ?? '-',
      ...(service === undefined ? {} : { target: service }),
      account: (account ?? '-').slice(0, 64),
      ...(by === undefined || by === account ? {} : { by }),
      ...(detail === undefined ? {} : { detail: detail.slice(0, 200) }),
      ...(suppressed === 0 ? {} : { suppressed }),
    };
    if (isWarning) log.warn(messages[event], fields);
    else log.info(messages[event], fields);
  };

  return {
    record,

    recordUse(event, credential) {
      const key = `${event.address ?? ''}\0${event.account ?? ''}\0${event.service ?? ''}\0${credential}`;
      const last = uses.get(key);
      if (last !== undefined && clock.now() - last < signInWindowMs) return;
      uses.set(key, clock.now());
      record({ ...event, event: 'sign_in' });
    },

    answering(scope, event, response, work) {
      const current: RequestScope = { ...scope };
      return scopes.run(current, () => {
        response?.once('finish', () => {
          if (response.statusCode === 403) record({ event: 'access_refused', detail: event });
          if (response.statusCode === 429 && current.isSignInBlocked !== true)
            record({ event: 'rate_limited', detail: event });
        });
        return work();
      });
    },

    identified(account) {
      const scope = scopes.getStore();
      if (scope !== undefined) scope.account = account;
    },
  };
}
