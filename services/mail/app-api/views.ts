import type { Jobs, JobState, JobSummary } from '../../contracts/jobs.ts';
import type { MailDelivery, SpooledMail } from '../../contracts/mail/api.ts';
import { deliver, toDeliveryKey } from '../deliver/delivery-worker.ts';
import { describeDeliveryFailure } from '../domain/delivery-failure.ts';
import { formatNote } from '../domain/drop-note.ts';
import type { MessageFilter, StoredMessage } from '../store/messages.ts';

/** Jobs by key. */
export type JobsByKey = ReadonlyMap<string, JobSummary>;

/** Maximum number of deliveries of one state that are read, sufficient for complete lists and sums. */
const maxJobs = 200_000;

/** Mails that are not delivered yet, each in one list. */
interface UnfinishedMails {
  /** Mails with a failed delivery. */
  readonly failed: readonly string[];
  /** Other mails with a pending delivery. */
  readonly waiting: readonly string[];
}

/** Returns the mails that are not delivered yet, including those in progress. */
export async function findUnfinished(jobs: Pick<Jobs, 'keys'>): Promise<UnfinishedMails> {
  const findMails = async (state: JobState): Promise<readonly string[]> => {
    const keys = await jobs.keys({ kind: deliver.name, state, limit: maxJobs });
    return keys.map((key) => key.split(':', 1)[0] ?? '');
  };
  const failed = new Set(await findMails('dead'));
  // Read in this order, so that a job that starts in between is found twice instead of never.
  const waiting = new Set([...(await findMails('waiting')), ...(await findMails('running'))]);
  return { failed: [...failed], waiting: [...waiting].filter((id) => !failed.has(id)) };
}

/** Converts a requested state to a filter of the spool. */
export async function toStateFilter(
  jobs: Pick<Jobs, 'keys'>,
  state: 'dead' | 'waiting' | 'done' | 'dropped' | undefined,
): Promise<Pick<MessageFilter, 'ids' | 'exceptIds' | 'dropped'>> {
  if (state === undefined) return {};
  if (state === 'dropped') return { dropped: true };
  const { failed, waiting } = await findUnfinished(jobs);
  if (state === 'done') return { dropped: false, exceptIds: [...failed, ...waiting] };
  return { ids: state === 'dead' ? failed : waiting };
}

/** Returns the state of each delivery of a mail. */
export function toDeliveries(message: StoredMessage, jobs: JobsByKey): MailDelivery[] {
  return message.deliveries.map(({ target, type, failure }, part) => {
    const job = jobs.get(toDeliveryKey(message.id, part));
    const state = job?.state === 'running' ? 'waiting' : (job?.state ?? 'unknown');
    const hasFailed = state === 'dead' || (state === 'waiting' && (job?.lastError ?? '') !== '');
    const knownReason = failure === undefined ? undefined : describeDeliveryFailure(failure);
    const reason = hasFailed ? (knownReason ?? job?.lastError ?? '') : '';
    const dead = state === 'dead' ? (job?.id ?? null) : null;
    const nextAt = job?.state === 'waiting' ? job.runAt : null;
    return { part, target, type, state, attempts: job?.attempts ?? 0, reason, nextAt, job: dead };
  });
}

/** Returns the list entry of a mail. */
export function toSummary(message: StoredMessage, deliveries: readonly MailDelivery[], subject: string): SpooledMail {
  const { id, sender, recipients, size, receivedAt, note } = message;
  return {
    id,
    sender,
    recipients: [...recipients],
    subject,
    size,
    receivedAt,
    note: formatNote(note),
    state: getState(message, deliveries),
    targets: deliveries.map(({ target }) => target),
  };
}

function getState({ note }: StoredMessage, deliveries: readonly MailDelivery[]): SpooledMail['state'] {
  if (deliveries.length === 0) return note === '' ? 'unknown' : 'dropped';
  const worstState = (['dead', 'waiting', 'unknown'] as const).find((state) =>
    deliveries.some((delivery) => delivery.state === state),
  );
  return worstState ?? 'done';
}
