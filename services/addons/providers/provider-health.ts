import type { Clock } from '../../contracts/service.ts';
import type { ServiceId } from '../domain/debrid-services.ts';
import { LruMap } from '../domain/lru-map.ts';
import { ProviderError } from './provider.ts';

const failuresToOpen = 5;
const openMs = 60_000;
/** A service that asks for more is asked again after this long all the same. */
const maxWaitMs = 6 * 3_600_000;
const defaultWaitMs = 60_000;
const maxAccounts = 1000;
const maxLimitsOfAccount = 50;
/** Weight of the newest in the moving averages. */
const weight = 0.2;

/** How a service has been doing, for the page. */
export interface ProviderHealth {
  readonly id: ServiceId;
  readonly requests: number;
  readonly failures: number;
  /** Moving average, ms. */
  readonly responseMs: number | undefined;
  /** Moving average, 0 to 1. */
  readonly successRate: number | undefined;
  readonly lastError: string | undefined;
  readonly lastErrorAt: number | undefined;
  /** It is not asked before, ms since the epoch. */
  readonly disabledUntil: number | undefined;
}

/** One request to a service: with which credential, and for what. */
export interface ProviderCall {
  readonly id: ServiceId;
  readonly name: string;
  /** Fingerprint of the credential. */
  readonly credential: string;
  /** Method and path without ids: services limit each of their functions separately. */
  readonly operation: string;
}

interface ServiceState {
  requests: number;
  failures: number;
  responseMs: number | undefined;
  successRate: number | undefined;
  lastError: string | undefined;
  lastErrorAt: number | undefined;
}

/** What is known of one credential; another account of the same service is not affected. */
interface AccountState {
  readonly id: ServiceId;
  failuresInRow: number;
  /** The service fails again and again, ms since the epoch. */
  openUntil: number;
  /** The credential was refused; it is not tried again until somebody asks for it. */
  isRefused: boolean;
  /** By operation, or under {@link wholeAccount}: the service has asked for fewer requests until then. */
  readonly limits: LruMap<string, number>;
}

const wholeAccount = '*';

/** The part of a path that names a function: ids, hashes and the query are not part of it. */
export function operationOf(method: string, path: string): string {
  const parts = (path.split('?', 1)[0] ?? '').split('/');
  return `${method} ${parts.map((part) => (/\d{3,}|^\d+$|[0-9a-f]{16,}/i.test(part) ? ':id' : part)).join('/')}`;
}

/**
 * Watches the services: how fast they are, how often they fail. Requests that are known to fail are not sent: those with a
 * credential that was refused, those that exceed a limit of the account, and those to a service that does not answer.
 * After a minute one request may try again.
 */
export class HealthWatch {
  readonly #clock: Clock;
  readonly #services = new Map<ServiceId, ServiceState>();
  readonly #accounts = new LruMap<string, AccountState>(maxAccounts);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws ProviderError when the service is not to be asked now. */
  check({ id, name, credential, operation }: ProviderCall): void {
    const account = this.#accounts.get(`${id} ${credential}`);
    if (account === undefined) return;
    if (account.isRefused)
      throw new ProviderError('UNAUTHORIZED', `${name} does not accept this key. Put in a valid one.`, {
        reason: 'refused before',
      });
    const now = this.#clock.now();
    const limitedUntil = Math.max(account.limits.get(operation) ?? 0, account.limits.get(wholeAccount) ?? 0);
    if (limitedUntil > now)
      throw new ProviderError('TOO_MANY_REQUESTS', limitSentence(name, limitedUntil), {
        reason: 'limited before',
        retryAfterMs: limitedUntil - now,
      });
    const leftMs = account.openUntil - now;
    if (leftMs > 0)
      throw new ProviderError(
        'SERVICE_UNAVAILABLE',
        `${name} fails again and again; it is asked again in ${String(Math.ceil(leftMs / 1000))} s.`,
        { reason: 'circuit open', retryAfterMs: leftMs },
      );
  }

  succeeded({ id, credential }: ProviderCall, ms: number): void {
    const service = this.#service(id);
    service.requests += 1;
    const account = this.#account(id, credential);
    account.failuresInRow = 0;
    account.openUntil = 0;
    account.isRefused = false;
    average(service, ms, 1);
  }

  failed({ id, credential, operation }: ProviderCall, ms: number, error: ProviderError): void {
    const now = this.#clock.now();
    const service = this.#service(id);
    const account = this.#account(id, credential);
    service.requests += 1;
    service.lastError = error.message;
    service.lastErrorAt = now;
    if (error.code === 'UNAUTHORIZED') {
      service.failures += 1;
      account.isRefused = true;
      return;
    }
    if (error.code === 'TOO_MANY_REQUESTS') {
      service.failures += 1;
      const waitMs = Math.min(error.retryAfterMs ?? defaultWaitMs, maxWaitMs);
      account.limits.set(error.isAboutAccount ? wholeAccount : operation, now + waitMs);
      return;
    }
    // What the service says about one torrent is no failure of the service.
    const isFailure = ['SERVICE_UNAVAILABLE', 'BAD_GATEWAY', 'UNKNOWN'].includes(error.code);
    average(service, ms, isFailure ? 0 : 1);
    if (!isFailure) return;
    service.failures += 1;
    account.failuresInRow += 1;
    if (error.retryAfterMs !== undefined) account.openUntil = now + Math.min(error.retryAfterMs, maxWaitMs);
    else if (account.failuresInRow >= failuresToOpen) {
      account.openUntil = now + openMs;
      // One request may try then; its failure opens the circuit again.
      account.failuresInRow = failuresToOpen - 1;
    }
  }

  /** Lets a credential be tried again, since a user asks for it. */
  forgive(id: ServiceId, credential: string): void {
    this.#accounts.delete(`${id} ${credential}`);
  }

  list(): readonly ProviderHealth[] {
    const now = this.#clock.now();
    const accounts = [...this.#accounts.values()];
    return [...this.#services].map(([id, service]) => {
      const until = Math.max(0, ...accounts.filter((account) => account.id === id).map(({ openUntil }) => openUntil));
      return { id, ...service, disabledUntil: until > now ? until : undefined };
    });
  }

  #service(id: ServiceId): ServiceState {
    const known = this.#services.get(id);
    if (known !== undefined) return known;
    const made: ServiceState = {
      ...{ requests: 0, failures: 0, responseMs: undefined, successRate: undefined },
      ...{ lastError: undefined, lastErrorAt: undefined },
    };
    this.#services.set(id, made);
    return made;
  }

  #account(id: ServiceId, credential: string): AccountState {
    const key = `${id} ${credential}`;
    const known = this.#accounts.get(key);
    if (known !== undefined) return known;
    const limits = new LruMap<string, number>(maxLimitsOfAccount);
    const made: AccountState = { id, failuresInRow: 0, openUntil: 0, isRefused: false, limits };
    this.#accounts.set(key, made);
    return made;
  }
}

function average(service: ServiceState, ms: number, success: number): void {
  const { responseMs, successRate } = service;
  service.responseMs = responseMs === undefined ? ms : responseMs * (1 - weight) + ms * weight;
  service.successRate = successRate === undefined ? success : successRate * (1 - weight) + success * weight;
}

function limitSentence(name: string, until: number): string {
  return `${name} has limited this account until ${new Date(until).toISOString().slice(11, 16)} UTC.`;
}
