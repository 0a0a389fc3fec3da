import type { Jobs, JobState, JobSummary } from '../../contracts/jobs.ts';
import type { MailDelivery, SpooledMail } from '../../contracts/mail/api.ts';
import { deliver, deliveryKey } from '../deliver/delivery-worker.ts';
import type { MessageFilter, StoredMessage } from '../store/messages.ts';

/** Jobs by their keys. */
export type KnownJobs = ReadonlyMap<string, JobSummary>;

/** Deliveries of one state that are looked through, so many that lists and sums are whole. */
const mostOpen = 200_000;

/** Mails that are not passed on, each once. */
interface OpenMails {
  /** Of which a delivery was given up. */
  readonly failed: readonly string[];
  /** The others of which a delivery is still to be made. */
  readonly waiting: readonly string[];
}

/** What is not passed on as yet, also what is being passed on just now. */
export async function openMails(jobs: Pick<Jobs, 'keys'>): Promise<OpenMails> {
  const mailsIn = async (state: JobState): Promise<readonly string[]> => {
    const keys = await jobs.keys({ kind: deliver.name, state, limit: mostOpen });
    return keys.map((key) => key.split(':', 1)[0] ?? '');
  };
  const failed = new Set(await mailsIn('dead'));
  // In this order: one that begins in between is found twice rather than not at all.
  const waiting = new Set([...(await mailsIn('waiting')), ...(await mailsIn('running'))]);
  return { failed: [...failed], waiting: [...waiting].filter((id) => !failed.has(id)) };
}

/** How what is asked for narrows the spool. */
export async function narrowedBy(
  jobs: Pick<Jobs, 'keys'>,
  state: 'dead' | 'waiting' | 'done' | 'dropped' | undefined,
): Promise<Pick<MessageFilter, 'ids' | 'exceptIds' | 'dropped'>> {
  if (state === undefined) return {};
  if (state === 'dropped') return { dropped: true };
  const { failed, waiting } = await openMails(jobs);
  if (state === 'done') return { dropped: false, exceptIds: [...failed, ...waiting] };
  return { ids: state === 'dead' ? failed : waiting };
}

/** What became of each delivery of a mail. */
export function deliveriesFor(message: StoredMessage, known: KnownJobs): MailDelivery[] {
  return message.deliveries.map(({ target, type }, part) => {
    const job = known.get(deliveryKey(message.id, part));
    const state = job?.state === 'running' ? 'waiting' : (job?.state ?? 'unknown');
    const reason = state === 'waiting' || state === 'dead' ? (job?.lastError ?? '') : '';
    const dead = state === 'dead' ? (job?.id ?? null) : null;
    const nextAt = job?.state === 'waiting' ? job.runAt : null;
    return { part, target, type, state, attempts: job?.attempts ?? 0, reason, nextAt, job: dead };
  });
}

/** A row of the list. */
export function summaryOf(message: StoredMessage, deliveries: readonly MailDelivery[], subject: string): SpooledMail {
  const { id, sender, recipients, size, receivedAt, note } = message;
  return {
    id,
    sender,
    recipients: [...recipients],
    subject,
    size,
    receivedAt,
    note,
    state: stateOf(message, deliveries),
    targets: deliveries.map(({ target }) => target),
  };
}

function stateOf({ note }: StoredMessage, deliveries: readonly MailDelivery[]): SpooledMail['state'] {
  if (deliveries.length === 0) return note === '' ? 'unknown' : 'dropped';
  const worst = (['dead', 'waiting', 'unknown'] as const).find((state) =>
    deliveries.some((delivery) => delivery.state === state),
  );
  return worst ?? 'done';
}
