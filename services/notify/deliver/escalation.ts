import { z } from 'zod';
import type { Kysely } from 'kysely';
import type { Jobs } from '../../contracts/jobs.ts';
import type { Planned } from '../accept/selection.ts';
import { deliver } from './job.ts';
import type { Level } from '../domain/escalation.ts';
import type { SealedDestinations } from '../keys/sealed-destinations.ts';
import { advance, keepLevels } from '../store/escalations.ts';
import type { EscalationTable } from '../store/tables.ts';
import { NewDelivery, type NoticeStore } from '../store/notifications.ts';
import type { NotifyTables } from '../store/tables.ts';

/** A delivery with its job, to be made at once or when its level is asked. */
interface Made {
  readonly row: NewDelivery;
  readonly job: z.infer<typeof Job>;
  /** Unset for those that are asked at once whatever becomes of the others. */
  readonly standing?: Level | undefined;
}

const Job = z.object({
  payload: deliver.schema,
  key: z.string(),
  orderKey: z.string().exactOptional(),
  runAt: z.number().exactOptional(),
});
const Held = z.object({ row: NewDelivery, job: Job });

/** What is made at once, and what waits until its level is asked. */
export interface Levels {
  readonly first: readonly Made[];
  readonly levels: readonly Omit<EscalationTable, 'notice_id'>[];
}

/** A delivery with its job. A strict one waits behind nobody: its caller is there and does. */
function make(sealed: SealedDestinations, notice: string, planned: Planned, strict: boolean): Made {
  const { delivery, destination, plan, rated, retries, standing } = planned;
  return {
    standing,
    row: {
      ...{ destinationId: delivery, service: destination.service, optional: destination.optional },
      ...sealed.write(destination),
      ...(plan.digest === undefined ? (rated ? { rated } : {}) : { digest: plan.digest }),
    },
    job: {
      payload: {
        ...{ notice, destination: delivery },
        ...(strict ? { strict } : {}),
        ...(retries === undefined ? {} : { retries }),
      },
      key: `${notice}:${delivery}`,
      ...(strict ? {} : { orderKey: delivery + plan.orderSuffix }),
      ...(plan.runAt === undefined ? {} : { runAt: plan.runAt }),
    },
  };
}

/** The deliveries of a notice by when they are made: at once who stands in no chain, and the lowest level of each chain. */
export function planLevels(
  sealed: SealedDestinations,
  notice: string,
  planned: readonly Planned[],
  strict: boolean,
): Levels {
  const made = planned.map((each) => make(sealed, notice, each, strict));
  const inChain = made.flatMap(({ standing }) => standing ?? []);
  const ends = new Map(
    [...Map.groupBy(inChain, ({ chain }) => chain)].map(([chain, standings]) => {
      const levels = standings.map(({ level }) => level);
      return [chain, { lowest: Math.min(...levels), highest: Math.max(...levels) }];
    }),
  );
  const first: Made[] = [];
  const levels: Omit<EscalationTable, 'notice_id'>[] = [];
  for (const each of made) {
    const { row, standing } = each;
    const { lowest, highest } = (standing === undefined ? undefined : ends.get(standing.chain)) ?? {
      lowest: 0,
      highest: 0,
    };
    if (standing === undefined || lowest === highest) {
      first.push(each);
      continue;
    }
    // Behind others that cannot be sent it would never come to be known that this one cannot either.
    const { orderKey: _behind, ...job } = each.job;
    const stepped =
      standing.level === highest ? each.job : { ...job, payload: { ...job.payload, chain: standing.chain } };
    const isFirst = standing.level === lowest;
    if (isFirst) first.push({ row, job: stepped, standing });
    levels.push({
      ...{
        destination_id: row.destinationId,
        chain: standing.chain,
        level: standing.level,
        optional: row.optional ? 1 : 0,
      },
      held: isFirst ? '' : JSON.stringify({ row, job: stepped }),
    });
  }
  return { first, levels };
}

/** Writes the deliveries of a new notice, their jobs, and the levels that are asked later. */
export async function begin(
  transaction: Kysely<NotifyTables>,
  jobs: Jobs,
  noticeId: string,
  { first, levels }: Levels,
): Promise<void> {
  await keepLevels(transaction, noticeId, levels);
  await jobs.enqueueAll(
    transaction,
    deliver,
    first.map(({ job }) => job),
  );
}

/** Asks the next level of a chain when nobody of the present one could be reached; undefined when nothing is to be done. */
export async function askNext(
  transaction: Kysely<NotifyTables>,
  { jobs, notices, now }: { readonly jobs: Jobs; readonly notices: NoticeStore; readonly now: number },
  noticeId: string,
  chain: number,
): Promise<{ readonly asked: readonly string[]; readonly next: readonly NewDelivery[] } | undefined> {
  const state = await advance(transaction, noticeId, chain);
  if (state.kind !== 'failed') return undefined;
  const held = state.next.map((text) => Held.parse(JSON.parse(text)));
  const next = held.map(({ row }) => row);
  await notices.addDeliveries(transaction, noticeId, next, now);
  await jobs.enqueueAll(
    transaction,
    deliver,
    held.map(({ job }) => job),
  );
  return { asked: state.asked, next };
}
