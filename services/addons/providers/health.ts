import type { Clock } from '../../contracts/service.ts';
import type { ServiceId } from '../domain/debrid-services.ts';
import { ProviderError } from './provider.ts';

const failuresToOpen = 5;
const openMs = 60_000;
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

interface State {
  requests: number;
  failures: number;
  inRow: number;
  responseMs: number | undefined;
  successRate: number | undefined;
  lastError: string | undefined;
  lastErrorAt: number | undefined;
  disabledUntil: number;
  /** Credentials that were refused, by their fingerprint; they are not tried again until others come. */
  refused: Set<string>;
}

/**
 * Watches the services: how fast they are, how often they fail, and keeps from asking those that are down or that have
 * refused a credential. A service that is down is left alone for a minute; then one request may try.
 */
export class HealthWatch {
  readonly #clock: Clock;
  readonly #states = new Map<ServiceId, State>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws ProviderError when the service is not to be asked now. */
  check(id: ServiceId, name: string, credential: string): void {
    const state = this.#states.get(id);
    if (state === undefined) return;
    if (state.refused.has(credential))
      throw new ProviderError('UNAUTHORIZED', `${name} does not accept this key. Put in a valid one.`, {
        reason: 'refused before',
      });
    const leftMs = state.disabledUntil - this.#clock.now();
    if (leftMs > 0)
      throw new ProviderError(
        'SERVICE_UNAVAILABLE',
        `${name} fails again and again; it is asked again in ${String(Math.ceil(leftMs / 1000))} s.`,
        {
          reason: 'circuit open',
          retryAfterMs: leftMs,
        },
      );
  }

  succeeded(id: ServiceId, ms: number, credential: string): void {
    const state = this.#state(id);
    state.requests += 1;
    state.inRow = 0;
    state.disabledUntil = 0;
    state.refused.delete(credential);
    this.#average(state, ms, 1);
  }

  failed(id: ServiceId, ms: number, credential: string, error: ProviderError): void {
    const state = this.#state(id);
    state.requests += 1;
    state.lastError = error.message;
    state.lastErrorAt = this.#clock.now();
    if (error.code === 'UNAUTHORIZED') {
      state.failures += 1;
      if (state.refused.size > 100) state.refused.clear();
      state.refused.add(credential);
      return;
    }
    // What the service says about one torrent is no trouble of the service.
    const its =
      error.code === 'SERVICE_UNAVAILABLE' ||
      error.code === 'BAD_GATEWAY' ||
      error.code === 'UNKNOWN' ||
      error.code === 'TOO_MANY_REQUESTS';
    this.#average(state, ms, its ? 0 : 1);
    if (!its) return;
    state.failures += 1;
    state.inRow += 1;
    if (error.retryAfterMs !== undefined) state.disabledUntil = this.#clock.now() + error.retryAfterMs;
    else if (state.inRow >= failuresToOpen) {
      state.disabledUntil = this.#clock.now() + openMs;
      // One request may try then; its failure opens the circuit again.
      state.inRow = failuresToOpen - 1;
    }
  }

  /** Lets a credential be tried again, since somebody asks for it. */
  forgive(id: ServiceId, credential: string): void {
    const state = this.#states.get(id);
    if (state === undefined) return;
    state.refused.delete(credential);
    state.disabledUntil = 0;
  }

  list(): readonly ProviderHealth[] {
    return [...this.#states].map(([id, state]) => ({
      id,
      requests: state.requests,
      failures: state.failures,
      responseMs: state.responseMs,
      successRate: state.successRate,
      lastError: state.lastError,
      lastErrorAt: state.lastErrorAt,
      disabledUntil: state.disabledUntil > this.#clock.now() ? state.disabledUntil : undefined,
    }));
  }

  #average(state: State, ms: number, success: number): void {
    state.responseMs = state.responseMs === undefined ? ms : state.responseMs * (1 - weight) + ms * weight;
    state.successRate = state.successRate === undefined ? success : state.successRate * (1 - weight) + success * weight;
  }

  #state(id: ServiceId): State {
    let state = this.#states.get(id);
    if (state === undefined) {
      state = {
        requests: 0,
        failures: 0,
        inRow: 0,
        responseMs: undefined,
        successRate: undefined,
        lastError: undefined,
        lastErrorAt: undefined,
        disabledUntil: 0,
        refused: new Set(),
      };
      this.#states.set(id, state);
    }
    return state;
  }
}
