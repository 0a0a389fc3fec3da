import type { ApiHandler } from '../../contracts/api.ts';
import type { Context } from '../../contracts/service.ts';
import type { Database } from '../engine/database.ts';
import type { Part } from '../http/exchange.ts';
import type { Keys } from '../keys/keys.ts';
import { RateLimits } from './domain/rate-limits.ts';
import { Passwords } from './hash/passwords.ts';
import { Mailbox } from './mail/mailbox.ts';
import { mailDestination, type MailSettings } from './mail/settings.ts';
import { createAuthMetrics } from './metrics.ts';
import { ownUserRoutes } from './app-api/users.ts';
import { authPart } from './handler.ts';
import { usualTiming, type AuthSettings, type Timing } from './dependencies.ts';
import { authDatabase } from './store/database.ts';
import { cleanUp } from './store/sessions.ts';

const hour = 3_600_000;

/** Auth API with its background work. */
export interface Auth extends AsyncDisposable {
  readonly part: Part;
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
    timing = usualTiming,
  }: {
    readonly database: Database;
    readonly keys: Keys;
    readonly settings: AuthSettings & MailSettings;
    readonly timing?: Timing;
  },
): Auth {
  const { accounts, clock, log, metrics, vault } = context;
  const open = new DisposableStack();
  const passwords = new Passwords();
  const mailbox = new Mailbox(context, (to) => mailDestination(settings, to));
  const sql = authDatabase(database);
  const parts = {
    context: { accounts, clock, log, vault },
    database: sql,
    settings,
    keys,
    passwords,
    mailbox,
    timing,
    limits: new RateLimits(),
    metrics: createAuthMetrics(metrics),
  };
  return {
    part: authPart(context, parts),
    api: ownUserRoutes(context, parts),
    start() {
      open.use(mailbox.start());
      const tidy = async (): Promise<void> => {
        // The clean-up does not start a stopped server.
        if (database.state === 'up') await cleanUp(sql, clock.now());
      };
      open.use(
        clock.every(
          hour,
          () => void tidy().catch((error: unknown) => log.warn('session clean-up failed', { error })),
        ),
      );
    },
    async [Symbol.asyncDispose]() {
      open.dispose();
      await passwords[Symbol.asyncDispose]();
    },
  };
}
