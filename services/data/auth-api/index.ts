import type { ApiHandler } from '../../contracts/api.ts';
import type { Context } from '../../contracts/service.ts';
import type { Database } from '../engine/database.ts';
import type { MountedApi } from '../http/exchange.ts';
import type { Keys } from '../keys/keys.ts';
import { RateLimits } from './domain/rate-limits.ts';
import { Passwords } from './hash/passwords.ts';
import { Mailbox } from './mail/mailbox.ts';
import { buildMailDestination, type MailSettings } from './mail/settings.ts';
import { createAuthMetrics } from './metrics.ts';
import { createUserRoutes } from './app-api/users.ts';
import { createAuthApi } from './handler.ts';
import { defaultTiming, type AuthSettings, type Timing } from './dependencies.ts';
import { createAuthDatabase } from './store/database.ts';
import { cleanUp } from './store/sessions.ts';

const hourMs = 3_600_000;

/** Auth API with its background work. */
export interface Auth extends AsyncDisposable {
  readonly mountedApi: MountedApi;
  /** App API routes for the pages. */
  readonly api: readonly ApiHandler[];
  /** Starts sending mails and deleting expired rows. */
  start(): void;
}

export function createAuth(
  context: Context,
  {
    database,
    keys,
    settings,
    timing = defaultTiming,
  }: {
    readonly database: Database;
    readonly keys: Keys;
    readonly settings: AuthSettings & MailSettings;
    readonly timing?: Timing;
  },
): Auth {
  const { accounts, clock, log, metrics, vault } = context;
  const resources = new DisposableStack();
  const passwords = new Passwords();
  const mailbox = new Mailbox(context, (to) => buildMailDestination(settings, to));
  const sql = createAuthDatabase(database);
  const deps = {
    context: { accounts, clock, log, vault },
    database: sql,
    settings,
    keys,
    passwords,
    mailbox,
    protection: { timing, limits: new RateLimits() },
    metrics: createAuthMetrics(metrics),
  };
  return {
    mountedApi: createAuthApi(context, deps),
    api: createUserRoutes(context, deps),
    start() {
      resources.use(mailbox.start());
      const deleteExpired = async (): Promise<void> => {
        // The clean-up does not start a stopped server.
        if (database.state === 'up') await cleanUp(sql, clock.now());
      };
      resources.use(
        clock.every(
          hourMs,
          () => void deleteExpired().catch((error: unknown) => log.warn('session clean-up failed', { error })),
        ),
      );
    },
    async [Symbol.asyncDispose]() {
      resources.dispose();
      await passwords[Symbol.asyncDispose]();
    },
  };
}
