import type { Context } from '../../contracts/service.ts';
import type { Limits } from '../access/limits.ts';
import { accountRoutes } from './account.ts';
import type { ApiRoutes } from './api-routes.ts';
import type { Exchange } from './exchange.ts';
import { reservationRoutes } from './reservations.ts';
import { tokenRoutes } from './tokens.ts';
import { userRoutes } from './users.ts';
import { loadOrCreateKey } from '../../kit/stored-key.ts';
import { getKeyLocation } from '../store/keys.ts';
import type { Delivery } from '../publish/delivery.ts';
import type { Settings } from '../settings.ts';
import type { DerivedSettings } from '../settings/derived-settings.ts';
import { ProfileStore } from '../store/profiles.ts';
import type { SyncTopics } from '../access/sync-topics.ts';

export interface AccessDependencies {
  /** Its accounts include the access to sync topics. */
  readonly context: Context;
  readonly settings: Readonly<Pick<Settings, 'baseUrl' | 'enableSignup'>>;
  readonly derivedSettings: Pick<DerivedSettings, 'cacheSeconds' | 'reservedTopics'>;
  readonly limits: Limits;
  readonly syncTopics: SyncTopics;
  readonly delivery: Pick<Delivery, 'attachments' | 'publisher'>;
  /** Returns true when messages can be forwarded as mail. */
  readonly sendsMail: () => boolean;
}

/** Account and administration API with its stored data. */
export interface Access {
  readonly routes: ApiRoutes;
  /** Notifies other devices of an account about a change. */
  notifyDevices(account: string): Promise<void>;
  start(): Promise<void>;
}

export function openAccess(dependencies: AccessDependencies): Access {
  const { context, delivery, derivedSettings, limits, settings, syncTopics } = dependencies;
  const { accounts, clock } = context;
  const profiles = new ProfileStore(context);

  const notifyDevices = async (account: string): Promise<void> => {
    const topic = syncTopics.findTopic(account);
    if (topic === undefined) return;
    await delivery.publisher.publish({ event: 'message', topic, message: '{"event":"sync"}', cached: false });
  };
  const getUsage = async (exchange: Exchange): Promise<object> =>
    toAccountUsage(
      limits.usage(exchange),
      dependencies,
      await delivery.attachments.getStoredBytes(limits.getKey(exchange)),
    );
  const registration = {
    isEnabled: () => settings.enableSignup,
    admit: (exchange: Exchange) => limits.signUp(exchange),
  };
  const isOwnAddress = ({ request }: Exchange, baseUrl: string): boolean => {
    const host = URL.parse(baseUrl)?.host;
    const addresses = [settings.baseUrl, context.publicUrl(request) ?? '', `http://${request.headers.host ?? ''}`];
    return host !== undefined && addresses.some((address) => URL.parse(address)?.host === host);
  };
  return {
    notifyDevices,
    routes: {
      ...accountRoutes({
        accounts,
        profiles,
        syncTopics,
        clock,
        isOwnAddress,
        notifyDevices,
        getUsage,
        registration,
      }),
      ...tokenRoutes({ accounts, clock, notifyDevices }),
      ...reservationRoutes({ accounts, profiles, reserved: derivedSettings.reservedTopics, notifyDevices }),
      ...userRoutes(accounts),
    },
    async start() {
      syncTopics.setKey(await loadOrCreateKey(context, getKeyLocation('sync'), () => context.random.text(43)));
    },
  };
}

/**
 * Returns limits and usage in the shape of ntfy's account page. Features that are not available (calls, tiers, mail
 * without a server) are 0.
 */
function toAccountUsage(
  usage: ReturnType<Limits['usage']>,
  { derivedSettings: { cacheSeconds }, sendsMail, delivery }: AccessDependencies,
  stored: number,
): object {
  const { messages, dailyMessages } = usage;
  const { bounds } = delivery.attachments;
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
