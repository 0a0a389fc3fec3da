import type { Accounts } from '../../contracts/control/accounts.ts';
import type { Context } from '../../contracts/service.ts';
import type { Keys } from '../keys/keys.ts';
import type { Settings } from '../settings.ts';
import type { RateLimits } from './domain/rate-limits.ts';
import type { Passwords } from './hash/passwords.ts';
import type { Mailbox } from './mail/mailbox.ts';
import type { AuthMetrics } from './metrics.ts';
import type { AuthDatabase } from './store/database.ts';

export type AuthSettings = Pick<
  Settings,
  'autoconfirm' | 'anonymousSignIns' | 'signUp' | 'siteUrl' | 'externalUrl' | 'redirectUrls' | 'jwtExpiry'
>;

/** Intervals that tests can shorten. */
export interface Timing {
  /**
   * Time during which a used refresh token is accepted again, ms: several windows of one browser may refresh concurrently.
   */
  readonly reuseMs: number;
  /** Minimum interval between two mails to one user, ms. */
  readonly mailIntervalMs: number;
  /** Lifetime of codes and links in mails, ms. */
  readonly codeLifetimeMs: number;
}

export const defaultTiming: Timing = { reuseMs: 10_000, mailIntervalMs: 60_000, codeLifetimeMs: 3_600_000 };

/** Protection against guessing: rate limits, and response times that do not depend on the account. */
export interface AuthProtection {
  readonly limits: RateLimits;
  readonly timing: Timing;
}

/** Dependencies of all auth routes. */
export interface AuthDependencies {
  readonly context: Pick<Context, 'clock' | 'log' | 'vault'> & { readonly accounts: Pick<Accounts, 'record'> };
  readonly database: AuthDatabase;
  readonly settings: AuthSettings;
  readonly keys: Pick<Keys, 'sign' | 'verify' | 'getRole' | 'hashCode' | 'published'>;
  readonly passwords: Passwords;
  readonly mailbox: Mailbox;
  readonly protection: AuthProtection;
  readonly metrics: AuthMetrics;
}
