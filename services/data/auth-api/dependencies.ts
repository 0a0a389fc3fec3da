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

/** What tests turn, so that they need not wait. */
export interface Timing {
  /** A refresh token that was used may come again for this time, ms: several windows of one browser refresh at once. */
  readonly reuseMs: number;
  /** Between two mails to one person, ms. */
  readonly mailEveryMs: number;
  /** Codes and links of mails are good for this time, ms. */
  readonly codeMs: number;
}

export const usualTiming: Timing = { reuseMs: 10_000, mailEveryMs: 60_000, codeMs: 3_600_000 };

/** What all routes of sign-in work with. */
export interface AuthParts {
  readonly context: Pick<Context, 'clock' | 'log' | 'vault'> & { readonly accounts: Pick<Accounts, 'record'> };
  readonly database: AuthDatabase;
  readonly settings: AuthSettings;
  readonly keys: Pick<Keys, 'sign' | 'verify' | 'roleOf' | 'codeHash' | 'published'>;
  readonly passwords: Passwords;
  readonly mailbox: Mailbox;
  readonly limits: RateLimits;
  readonly metrics: AuthMetrics;
  readonly timing: Timing;
}
