import type { FailureCode, FailureParameters } from '../../contracts/downloads/causes.ts';
import type { Order } from './order.ts';

/** Subscription as it is requested. */
export interface NewSubscription {
  readonly url: string;
  readonly order: Order;
  readonly intervalMinutes: number;
  readonly titleRegex: string;
  readonly skipMembersOnly: boolean;
}

/** Stored subscription. Times are in ms since the epoch. */
export interface StoredSubscription {
  readonly id: string;
  readonly url: string;
  readonly name: string;
  /** Options of its downloads. */
  readonly order: Order;
  readonly enabled: boolean;
  readonly intervalMinutes: number;
  readonly titleRegex: string;
  readonly skipMembersOnly: boolean;
  readonly createdAt: number;
  readonly lastChecked: number | null;
  readonly nextCheck: number;
  readonly lastFound: number | null;
  /** Number of videos that checks queued. */
  readonly found: number;
  readonly error: string | null;
  /** Cause of the error, if known. */
  readonly failure: FailureCode | null;
  /** Values of the text of the cause. */
  readonly failureParameters?: FailureParameters | null | undefined;
  readonly failures: number;
  readonly seen: number;
  /** Address of the picture. */
  readonly picture: string | null;
}

export type SubscriptionChange = Partial<Omit<StoredSubscription, 'id' | 'createdAt' | 'seen'>>;
