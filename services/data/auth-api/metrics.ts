import type { Counter, Metrics } from '../../contracts/metrics.ts';

/** Metrics of the auth API. */
export interface AuthMetrics {
  /** New sessions by sign-in method. */
  readonly sessions: Counter;
  readonly refreshes: Counter;
  readonly mails: Counter;
  readonly refusals: Counter;
}

export function createAuthMetrics(metrics: Metrics): AuthMetrics {
  return {
    sessions: metrics.counter({
      name: 'data_auth_sessions_total',
      help: 'Sessions that began.',
      labels: ['method'],
      initial: ['password', 'otp', 'anonymous'].map((method) => ({ method })),
    }),
    refreshes: metrics.counter({
      name: 'data_auth_refreshes_total',
      help: 'Refresh tokens that were presented.',
      labels: ['result'],
      initial: ['rotated', 'repeated', 'reused', 'unknown'].map((result) => ({ result })),
    }),
    mails: metrics.counter({
      name: 'data_auth_mails_total',
      help: 'Mails of sign-in that were written.',
      labels: ['purpose'],
      initial: ['signup', 'recovery', 'magiclink'].map((purpose) => ({ purpose })),
    }),
    refusals: metrics.counter({
      name: 'data_auth_refusals_total',
      help: 'Requests of sign-in that were refused.',
      labels: ['code'],
      initial: [{ code: 'invalid_credentials' }],
    }),
  };
}
