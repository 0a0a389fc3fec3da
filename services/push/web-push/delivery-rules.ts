import type { Context } from '../../contracts/service.ts';
import type { Recorded } from '../messages/write-messages.ts';
import type { BrowserDelivery } from './delivery.ts';

/** Mode of delivery to the browsers of an account. */
export interface DeliveryMode {
  /** Without sound. */
  readonly silent?: true;
  /** Name that the account has given the topic. */
  readonly displayName?: string;
  /** Secret that acknowledges the message, which is repeated until then. */
  readonly acknowledge?: string;
  /** Identity of the message if it must be held because quiet hours begin before it is sent. */
  readonly waits?: { readonly sequence: string; readonly key: string };
}

/** Message as it is recorded for the accounts that may hold it. */
export type ClassifiedMessage = Pick<Recorded, 'message' | 'text' | 'inbox'>;

/** Rules of accounts for the delivery of messages to their browsers. */
export interface DeliveryRules {
  /**
   * Decides about a message for these accounts in the transaction that stores it, and returns how it is delivered;
   * accounts that are missing get a digest later.
   */
  classify(
    transaction: Context['db'],
    recorded: ClassifiedMessage,
    accounts: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, DeliveryMode>>;
  /**
   * Holds a delivery that became due during quiet hours, for example after a network outage; returns false when it may
   * be sent.
   */
  holdBack(account: string | null, delivery: Pick<BrowserDelivery, 'topic' | 'waits'>): Promise<boolean>;
}
