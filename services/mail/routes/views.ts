import type { Jobs, JobSummary } from '../../contracts/jobs.ts';
import type { MailDelivery, SpooledMail } from '../../contracts/mail/api.ts';
import { deliver, deliveryKey } from '../deliver/deliveries.ts';
import type { StoredMessage } from '../store/messages.ts';

/** Jobs by their keys. */
export type KnownJobs = ReadonlyMap<string, JobSummary>;

/** Mails of which a delivery is in this state, as far as so many deliveries are. */
export async function mailsOf(
  jobs: Pick<Jobs, 'keys'>,
  state: 'dead' | 'waiting',
  most: number,
): Promise<readonly string[]> {
  const keys = await jobs.keys({ kind: deliver.name, state, limit: most });
  return [...new Set(keys.map((key) => key.split(':', 1)[0] ?? ''))];
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
  };
}

function stateOf({ note }: StoredMessage, deliveries: readonly MailDelivery[]): SpooledMail['state'] {
  if (deliveries.length === 0) return note === '' ? 'unknown' : 'dropped';
  const worst = (['dead', 'waiting', 'unknown'] as const).find((state) =>
    deliveries.some((delivery) => delivery.state === state),
  );
  return worst ?? 'done';
}
