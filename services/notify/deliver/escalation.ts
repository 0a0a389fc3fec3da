import { z } from 'zod';
import type { Kysely } from 'kysely';
import type { Jobs } from '../../contracts/jobs.ts';
import { deliver } from './job.ts';
import type { PlannedDelivery } from './planned-delivery.ts';
import type { ChainLevel } from '../domain/escalation.ts';
import type { SealedDestinations } from '../keys/sealed-destinations.ts';
import { advanceChain, insertLevels } from '../store/escalations.ts';
import type { EscalationTable } from '../store/tables.ts';
import { NewDelivery, type NotificationStore } from '../store/notifications.ts';
import type { NotifyTables } from '../store/tables.ts';

/** Delivery with its job, for immediate execution or a later level. */
interface JobWithDelivery {
  readonly row: NewDelivery;
  readonly job: z.infer<typeof DeliveryJob>;
  /** Unset for deliveries that do not depend on others. */
  readonly chainLevel?: ChainLevel | undefined;
}

const DeliveryJob = z.object({
  payload: deliver.schema,
  key: z.string(),
  orderKey: z.string().exactOptional(),
  runAt: z.number().exactOptional(),
});
const StoredLevelDelivery = z.object({ row: NewDelivery, job: DeliveryJob });

/** Deliveries that are executed immediately, and those of later levels. */
export interface DeliveryLevels {
  readonly immediate: readonly JobWithDelivery[];
  readonly later: readonly Omit<EscalationTable, 'notice_id'>[];
}

/** Builds a delivery with its job. A strict delivery has no order key, because its caller waits. */
function buildDelivery(
  sealed: SealedDestinations,
  notificationId: string,
  planned: PlannedDelivery,
  strict: boolean,
): JobWithDelivery {
  const { delivery, destination, plan, countsAgainstRate, retries, chainLevel } = planned;
  return {
    chainLevel,
    row: {
      destinationId: delivery,
      service: destination.service,
      optional: destination.optional,
      ...sealed.seal(destination),
      ...(plan.digest === undefined
        ? countsAgainstRate
          ? { rated: countsAgainstRate }
          : {}
        : { digest: plan.digest }),
    },
    job: {
      payload: {
        notice: notificationId,
        destination: delivery,
        ...(strict ? { strict } : {}),
        ...(retries === undefined ? {} : { retries }),
      },
      key: `${notificationId}:${delivery}`,
      ...(strict ? {} : { orderKey: delivery + plan.orderSuffix }),
      ...(plan.runAt === undefined ? {} : { runAt: plan.runAt }),
    },
  };
}

/**
 * Splits the deliveries of a notification: immediate ones are those outside of a chain and the lowest level of each
 * chain.
 */
export function planDeliveryLevels(
  sealed: SealedDestinations,
  notificationId: string,
  planned: readonly PlannedDelivery[],
  strict: boolean,
): DeliveryLevels {
  const deliveries = planned.map((each) => buildDelivery(sealed, notificationId, each, strict));
  const chainLevels = deliveries.flatMap(({ chainLevel }) => chainLevel ?? []);
  const chainBounds = new Map(
    [...Map.groupBy(chainLevels, ({ chain }) => chain)].map(([chain, levelsOfChain]) => {
      const levels = levelsOfChain.map(({ level }) => level);
      return [chain, { lowest: Math.min(...levels), highest: Math.max(...levels) }];
    }),
  );
  const immediate: JobWithDelivery[] = [];
  const later: Omit<EscalationTable, 'notice_id'>[] = [];
  for (const each of deliveries) {
    const { row, chainLevel } = each;
    const { lowest, highest } = (chainLevel === undefined ? undefined : chainBounds.get(chainLevel.chain)) ?? {
      lowest: 0,
      highest: 0,
    };
    if (chainLevel === undefined || lowest === highest) {
      immediate.push(each);
      continue;
    }
    // In a queue behind failed deliveries, the failure of this one would not be noticed.
    const { orderKey: _orderKey, ...job } = each.job;
    const chainJob =
      chainLevel.level === highest ? each.job : { ...job, payload: { ...job.payload, chain: chainLevel.chain } };
    const isFirst = chainLevel.level === lowest;
    if (isFirst) immediate.push({ row, job: chainJob, chainLevel });
    later.push({
      destination_id: row.destinationId,
      chain: chainLevel.chain,
      level: chainLevel.level,
      optional: row.optional ? 1 : 0,
      held: isFirst ? '' : JSON.stringify({ row, job: chainJob }),
    });
  }
  return { immediate, later };
}

/** Inserts the later levels and enqueues the immediate deliveries of a new notification. */
export async function enqueueDeliveries(
  transaction: Kysely<NotifyTables>,
  jobs: Jobs,
  notificationId: string,
  { immediate, later }: DeliveryLevels,
): Promise<void> {
  await insertLevels(transaction, notificationId, later);
  await jobs.enqueueAll(
    transaction,
    deliver,
    immediate.map(({ job }) => job),
  );
}

/**
 * Starts the next level of a chain after the current one has failed. Returns undefined if there is nothing to start.
 */
export async function startNextLevel(
  transaction: Kysely<NotifyTables>,
  {
    jobs,
    notifications,
    now,
  }: { readonly jobs: Jobs; readonly notifications: NotificationStore; readonly now: number },
  notificationId: string,
  chain: number,
): Promise<{ readonly failedIds: readonly string[]; readonly next: readonly NewDelivery[] } | undefined> {
  const state = await advanceChain(transaction, notificationId, chain);
  if (state.kind !== 'failed') return undefined;
  const storedDeliveries = state.next.map((text) => StoredLevelDelivery.parse(JSON.parse(text)));
  const next = storedDeliveries.map(({ row }) => row);
  await notifications.addDeliveries(transaction, notificationId, next, now);
  await jobs.enqueueAll(
    transaction,
    deliver,
    storedDeliveries.map(({ job }) => job),
  );
  return { failedIds: state.failed, next };
}
