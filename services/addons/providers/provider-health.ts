import { defineDateFormat } from '../../../messages/format.ts';
import type { Text } from '../../contracts/text.ts';
import * as m from '#messages/addons-problems';
import type { Clock } from '../../contracts/service.ts';
import type { ServiceId } from '../domain/debrid-services.ts';
import { LruMap } from '../../kit/lru-map.ts';
import { ProviderError } from '../domain/provider-error.ts';

const maxConsecutiveFailures = 5;
const pauseMs = 60_000;
/** Maximum pause after a rate limit, even if the service requests a longer one. */
const maxWaitMs = 6 * 3_600_000;
const defaultWaitMs = 60_000;
const maxAccounts = 1000;
const maxLimitsPerAccount = 50;
/** Weight of the latest value in the moving averages. */
const averageWeight = 0.2;

/** Health of a service for the page. */
export interface ProviderHealth {
  readonly id: ServiceId;
  readonly requests: number;
  readonly failures: number;
  /** Moving average in milliseconds. */
  readonly responseMs: number | undefined;
  /** Moving average from 0 to 1. */
  readonly successRate: number | undefined;
  readonly lastError: Text | undefined;
  readonly lastErrorAt: number | undefined;
  /** Time until which the service is not requested, in milliseconds since the epoch. */
  readonly disabledUntil: number | undefined;
}

/** Request to a service with the credential and the operation. */
export interface ProviderCall {
  readonly id: ServiceId;
  readonly name: string;
  /** Fingerprint of the credential. */
  readonly credential: string;
  /** Method and path without IDs, because services limit each operation separately. */
  readonly operation: string;
}

interface ServiceState {
  requests: number;
  failures: number;
  responseMs: number | undefined;
  successRate: number | undefined;
  lastError: Text | undefined;
  lastErrorAt: number | undefined;
}

/** State of one credential. Other accounts of the service are not affected. */
interface AccountState {
  readonly id: ServiceId;
  consecutiveFailures: number;
  /** End of the pause after repeated failures, in milliseconds since the epoch. */
  pausedUntil: number;
  /** Set when the credential was refused. It is not sent again until a user requests it. */
  isRefused: boolean;
  /** End of rate limits by operation, or for all operations under {@link allOperations}. */
  readonly limits: LruMap<string, number>;
}

const allOperations = '*';

/** Builds the name of an operation from method and path without IDs, hashes and query. */
export function getOperation(method: string, path: string): string {
  const segments = (path.split('?', 1)[0] ?? '').split('/');
  return `${method} ${segments.map((part) => (/\d{3,}|^\d+$|[0-9a-f]{16,}/i.test(part) ? ':id' : part)).join('/')}`;
}

/**
 * Monitors response times and failures of the services. Requests that would fail are refused locally: those with a
 * refused credential, those above a rate limit of the account, and those to a service that does not respond. After one
 * minute, one request is sent as a test.
 */
export class ProviderHealthMonitor {
  readonly #clock: Clock;
  readonly #services = new Map<ServiceId, ServiceState>();
  readonly #accounts = new LruMap<string, AccountState>(maxAccounts);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Tests whether a request may be sent.
   *
   * @throws ProviderError when the service must not be requested now.
   */
  check({ id, name, credential, operation }: ProviderCall): void {
    const account = this.#accounts.get(`${id} ${credential}`);
    if (account === undefined) return;
    if (account.isRefused)
      throw new ProviderError('UNAUTHORIZED', () => m.keyRejected({ name }), {
        reason: 'refused before',
      });
    const now = this.#clock.now();
    const limitedUntil = Math.max(account.limits.get(operation) ?? 0, account.limits.get(allOperations) ?? 0);
    if (limitedUntil > now)
      throw new ProviderError('TOO_MANY_REQUESTS', () => m.limitedUntil({ name, time: formatTime(limitedUntil) }), {
        reason: 'limited before',
        retryAfterMs: limitedUntil - now,
      });
    const remainingMs = account.pausedUntil - now;
    if (remainingMs > 0)
      throw new ProviderError(
        'SERVICE_UNAVAILABLE',
        () => m.pausedAfterFailures({ name, seconds: Math.ceil(remainingMs / 1000) }),
        { reason: 'circuit open', retryAfterMs: remainingMs },
      );
  }

  recordSuccess({ id, credential }: ProviderCall, ms: number): void {
    const service = this.#getService(id);
    service.requests += 1;
    const account = this.#getAccount(id, credential);
    account.consecutiveFailures = 0;
    account.pausedUntil = 0;
    account.isRefused = false;
    updateAverages(service, ms, 1);
  }

  recordFailure({ id, credential, operation }: ProviderCall, ms: number, error: ProviderError): void {
    const now = this.#clock.now();
    const service = this.#getService(id);
    const account = this.#getAccount(id, credential);
    service.requests += 1;
    service.lastError = error.text;
    service.lastErrorAt = now;
    if (error.code === 'UNAUTHORIZED') {
      service.failures += 1;
      account.isRefused = true;
      return;
    }
    if (error.code === 'TOO_MANY_REQUESTS') {
      service.failures += 1;
      const waitMs = Math.min(error.retryAfterMs ?? defaultWaitMs, maxWaitMs);
      account.limits.set(error.isAboutAccount ? allOperations : operation, now + waitMs);
      return;
    }
    // An error about one torrent is not a failure of the service.
    const isFailure = ['SERVICE_UNAVAILABLE', 'BAD_GATEWAY', 'UNKNOWN'].includes(error.code);
    updateAverages(service, ms, isFailure ? 0 : 1);
    if (!isFailure) return;
    service.failures += 1;
    account.consecutiveFailures += 1;
    if (error.retryAfterMs !== undefined) account.pausedUntil = now + Math.min(error.retryAfterMs, maxWaitMs);
    else if (account.consecutiveFailures >= maxConsecutiveFailures) {
      account.pausedUntil = now + pauseMs;
      // One request is sent after the pause. If it fails, the pause is repeated.
      account.consecutiveFailures = maxConsecutiveFailures - 1;
    }
  }

  /** Enables a credential again when a user tests it. */
  reset(id: ServiceId, credential: string): void {
    this.#accounts.delete(`${id} ${credential}`);
  }

  list(): readonly ProviderHealth[] {
    const now = this.#clock.now();
    const accounts = [...this.#accounts.values()];
    return [...this.#services].map(([id, service]) => {
      const pausedUntil = Math.max(
        0,
        ...accounts.filter((account) => account.id === id).map(({ pausedUntil }) => pausedUntil),
      );
      return { id, ...service, disabledUntil: pausedUntil > now ? pausedUntil : undefined };
    });
  }

  #getService(id: ServiceId): ServiceState {
    const existing = this.#services.get(id);
    if (existing !== undefined) return existing;
    const state: ServiceState = {
      requests: 0,
      failures: 0,
      responseMs: undefined,
      successRate: undefined,
      lastError: undefined,
      lastErrorAt: undefined,
    };
    this.#services.set(id, state);
    return state;
  }

  #getAccount(id: ServiceId, credential: string): AccountState {
    const key = `${id} ${credential}`;
    const existing = this.#accounts.get(key);
    if (existing !== undefined) return existing;
    const limits = new LruMap<string, number>(maxLimitsPerAccount);
    const state: AccountState = { id, consecutiveFailures: 0, pausedUntil: 0, isRefused: false, limits };
    this.#accounts.set(key, state);
    return state;
  }
}

function updateAverages(service: ServiceState, ms: number, success: number): void {
  const { responseMs, successRate } = service;
  service.responseMs = responseMs === undefined ? ms : responseMs * (1 - averageWeight) + ms * averageWeight;
  service.successRate =
    successRate === undefined ? success : successRate * (1 - averageWeight) + success * averageWeight;
}

const formatTime = defineDateFormat({ timeStyle: 'short', timeZone: 'UTC' });
