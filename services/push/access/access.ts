import { everyone } from '../../contracts/control/accounts.ts';
import type { Context } from '../../contracts/service.ts';
import { forgetRemoved } from '../../kit/forget-removed.ts';
import type { Attachments } from '../attachments/attachments.ts';
import type { Draft } from '../domain/message.ts';
import type { Limits } from './limits.ts';
import { accountRoutes } from '../ntfy-api/account.ts';
import type { ApiRoutes } from '../ntfy-api/api-routes.ts';
import type { Exchange } from '../ntfy-api/exchange.ts';
import { reservationRoutes } from '../ntfy-api/reservations.ts';
import { tokenRoutes } from '../ntfy-api/tokens.ts';
import { userRoutes } from '../ntfy-api/users.ts';
import { keptKey } from '../../kit/kept-key.ts';
import { getKeyLocation } from '../store/keys.ts';
import { ProfileStore } from '../store/profiles.ts';
import type { SyncTopics } from './sync-topics.ts';

export interface AccessParts {
  readonly context: Context;
  readonly limits: Limits;
  readonly syncTopics: SyncTopics;
  readonly publish: (draft: Draft) => Promise<unknown>;
  readonly signUp: () => boolean;
  /** Whether messages may go out as mail. */
  readonly sendsMail: () => boolean;
  readonly reserved: ReadonlySet<string>;
  /** Seconds that a message is kept. */
  readonly cacheSeconds: () => number;
  readonly attachments: Pick<Attachments, 'bounds' | 'stored'>;
}

/** The account and administration API, and what it keeps. */
export interface Access {
  readonly routes: ApiRoutes;
  start(): Promise<Disposable>;
}

export function openAccess(parts: AccessParts): Access {
  const { context, limits, syncTopics } = parts;
  const { accounts, clock } = context;
  const profiles = new ProfileStore(context);

  const changed = async (account: string): Promise<void> => {
    const topic = syncTopics.of(account);
    if (topic === undefined) return;
    await parts.publish({ event: 'message', topic, message: '{"event":"sync"}', cached: false });
  };
  const forget = async (account: string): Promise<void> => {
    // Nobody could change the grant of a topic whose owner is gone, and it may be taken by another.
    for (const topic of await profiles.removeAccount(account))
      await accounts.setGrant(everyone, 'push', topic, undefined);
  };

  const usage = async (exchange: Exchange): Promise<object> =>
    usageOf(limits.usage(exchange), parts, await parts.attachments.stored(limits.nameOf(exchange)));
  const signing = { admitSignUp: (exchange: Exchange) => limits.signUp(exchange), signUp: parts.signUp };
  return {
    routes: {
      ...accountRoutes({ accounts, profiles, syncTopics, clock, changed, usage, ...signing }),
      ...tokenRoutes({ accounts, clock, changed }),
      ...reservationRoutes({ accounts, profiles, reserved: parts.reserved, changed }),
      ...userRoutes(accounts),
    },
    async start() {
      syncTopics.use(await keptKey(context, getKeyLocation('sync'), () => context.random.text(43)));
      return forgetRemoved(context, 'topics', forget);
    },
  };
}

/** Limits and use as the peer's account page shows them. What is off here (calls, tiers, mail without a server) is 0. */
function usageOf(
  usage: ReturnType<Limits['usage']>,
  { cacheSeconds, sendsMail, attachments: { bounds } }: AccessParts,
  stored: number,
): object {
  const { messages, dailyMessages } = usage;
  const emails = sendsMail() ? usage.dailyMails : 0;
  return {
    limits: {
      basis: 'ip',
      messages: dailyMessages,
      messages_expiry_duration: cacheSeconds(),
      emails,
      calls: 0,
      reservations: 0,
      attachment_total_size: usage.attachmentTotal,
      attachment_file_size: bounds.size,
      attachment_expiry_duration: bounds.seconds,
      attachment_bandwidth: usage.attachmentBandwidth,
    },
    stats: {
      messages,
      messages_remaining: Math.max(0, dailyMessages - messages),
      emails: usage.mails,
      emails_remaining: Math.max(0, emails - usage.mails),
      calls: 0,
      calls_remaining: 0,
      reservations: 0,
      reservations_remaining: 0,
      attachment_total_size: stored,
      attachment_total_size_remaining: Math.max(0, usage.attachmentTotal - stored),
    },
  };
}
