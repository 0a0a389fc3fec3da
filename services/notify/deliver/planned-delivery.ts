import type { Destination } from '../destinations/destination.ts';
import type { DeliveryPlan } from '../domain/delivery-rules.ts';
import type { ChainLevel } from '../domain/escalation.ts';

/** Delivery options of one call for one destination. */
export interface CallOptions {
  /** Position in the escalation. */
  readonly chainLevel?: ChainLevel | undefined;
  /** Retries after the first attempt; overrides the value of the URL. */
  readonly retries?: number | undefined;
}

/** Selected destination with the time of its delivery. */
export interface PlannedDelivery extends CallOptions {
  /** ID of the destination. */
  readonly delivery: string;
  readonly destination: Destination;
  readonly plan: DeliveryPlan;
  /** The destination has a rate limit. */
  readonly countsAgainstRate: boolean;
}
