import { z } from 'zod';
import type { Kysely } from 'kysely';
import type { Jobs } from '../../contracts/jobs.ts';
import type { PlannedDelivery } from '../accept/selection.ts';
import { deliver } from './job.ts';
import type { ChainLevel } from '../domain/escalation.ts';
import type { SealedDestinations } from '../keys/sealed-destinations.ts';
import { advanceChain, insertLevels } from '../store/escalations.ts';
import type { EscalationTable } from '../store/tables.ts';
import { NewDelivery, type NotificationStore } from '../store/notifications.ts';
import type { NotifyTables } from '../store/tables.ts';

/** A delivery with its job, to be made at once or when its level is asked. */
interface JobWithDelivery {
  readonly row: NewDelivery;
  readonly job: z.infer<typeof DeliveryJob>;
  /** Unset for those that are asked at once whatever becomes of the others. */
  readonly chainLevel?: ChainLevel | undefined;
}

const DeliveryJob = z.object({
  payload: deliver.schema,
  key: z.string(),
  orderKey: z.string().exactOptional(),
  runAt: z.number().exactOptional(),
});
const StoredLevelDelivery = z.object({ row: NewDelivery, job: DeliveryJob });

/** What is made at once, and what waits until its level is asked. */
export interface DeliveryLevels {
  readonly immediate: readonly JobWithDelivery[];
  readonly later: readonly Omit<EscalationTable, 'notice_id'>[];
}

/** A delivery with its job. A strict one waits behind nobody: its caller is there and does. */
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
      ...{ destinationId: delivery, service: destination.service, optional: destination.optional },
      ...sealed.seal(destination),
      ...(plan.digest === undefined
        ? countsAgainstRate
          ? { rated: countsAgainstRate }
          : {}
        : { digest: plan.digest }),
    },
    job: {
      payload: {
        ...{ notice: notificationId, destination: delivery },
        ...(strict ? { strict } : {}),
        ...(retries === undefined ? {} : { retries }),
      },
      key: `${notificationId}:${delivery}`,
      ...(strict ? {} : { orderKey: delivery + plan.orderSuffix }),
      ...(plan.runAt === undefined ? {} : { runAt: plan.runAt }),
    },
  };
}

/** The deliveries of a notice by when they are made: at once who stands in no chain, and the lowest level of each chain. */
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
    // Behind others that cannot be sent it would never come to be known that this one cannot either.
    const { orderKey: _orderKey, ...job } = each.job;
    const chainJob =
      chainLevel.level === highest ? each.job : { ...job, payload: { ...job.payload, chain: chainLevel.chain } };
    const isFirst = chainLevel.level === lowest;
    if (isFirst) immediate.push({ row, job: chainJob, chainLevel });
    later.push({
      ...{
        destination_id: row.destinationId,
        chain: chainLevel.chain,
        level: chainLevel.level,
        optional: row.optional ? 1 : 0,
      },
      held: isFirst ? '' : JSON.stringify({ row, job: chainJob }),
    });
  }
  return { immediate, later };
}

/** Writes the deliveries of a new notice, their jobs, and the levels that are asked later. */
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

/** Asks the next level of a chain when nobody of the present one could be reached; undefined when nothing is to be done. */
export async function startNextLevel(
  transaction: Kysely<NotifyTables>,
  { jobs, notices, now }: { readonly jobs: Jobs; readonly notices: NotificationStore; readonly now: number },
  notificationId: string,
  chain: number,
): Promise<{ readonly failedIds: readonly string[]; readonly next: readonly NewDelivery[] } | undefined> {
  const state = await advanceChain(transaction, notificationId, chain);
  if (state.kind !== 'failed') return undefined;
  const storedDeliveries = state.next.map((text) => StoredLevelDelivery.parse(JSON.parse(text)));
  const next = storedDeliveries.map(({ row }) => row);
  await notices.addDeliveries(transaction, notificationId, next, now);
  await jobs.enqueueAll(
    transaction,
    deliver,
    storedDeliveries.map(({ job }) => job),
  );
  return { failedIds: state.asked, next };
}
