import { implement, type ApiHandler } from '../../contracts/api.ts';
import type { JobSummary } from '../../contracts/jobs.ts';
import { mailApi, type SpooledMail } from '../../contracts/mail-api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { deliver } from '../deliveries.ts';
import { deliveriesOf } from '../domain/deliveries.ts';
import { noticeOfMail } from '../domain/mail.ts';
import { matchRecipient, type Mapping } from '../domain/recipients.ts';
import { targetName, type Target } from '../domain/target.ts';
import { parseMail } from '../mime/parse.ts';
import { readMail } from '../mime/reader.ts';
import type { MessageStore, StoredMessage } from '../store/messages.ts';
import type { Spool } from '../store/spool.ts';

interface ApiParts {
  readonly context: Context;
  readonly mappings: readonly Mapping<Target>[];
  readonly messages: MessageStore;
  readonly spool: Spool;
}

type Unfinished = ReadonlyMap<string, JobSummary>;

/** Of a source, for its subject: headers come first. */
const headBytes = 16 * 1024;
/** Of a source that is shown. */
const shownBytes = 64 * 1024;
/** Waiting and given-up deliveries that are looked through. */
const mostJobs = 5000;

/** The service's part of our own API: the spool, and where addresses lead. */
export function mailHandlers({ context, mappings, messages, spool }: ApiParts): readonly ApiHandler[] {
  const { clock, commit, jobs, log } = context;

  /** Work that is not over, by its key: `MESSAGE:PART`. */
  const unfinished = async (): Promise<Unfinished> => {
    const lists = await Promise.all(
      (['waiting', 'running', 'dead'] as const).map((state) =>
        jobs.list({ state, kind: deliver.name, limit: mostJobs }),
      ),
    );
    return new Map(lists.flat().map((job) => [job.key ?? '', job]));
  };
  const found = async (id: string | undefined): Promise<StoredMessage> => {
    const message = id === undefined ? undefined : await messages.find(id);
    if (message !== undefined) return message;
    throw new Problem('mail.unknown', 404, 'This mail is not in the spool any more.');
  };
  const summary = async (message: StoredMessage, open: Unfinished): Promise<SpooledMail> => {
    const { id, sender, recipients, size, receivedAt } = message;
    const states = [...open].filter(([key]) => key.startsWith(`${id}:`)).map(([, job]) => stateOf(job));
    const state = states.includes('dead') ? 'dead' : states.includes('waiting') ? 'waiting' : 'delivered';
    return {
      ...{ id, sender, size, time: receivedAt, state },
      recipients: [...recipients],
      subject: await subjectOf(id),
    };
  };
  const subjectOf = async (id: string): Promise<string> => {
    const head = await spool.head(id, headBytes);
    return head === undefined ? '' : ((await parseMail(head)).subject ?? '').slice(0, 500);
  };

  return [
    implement(mailApi.messages, async ({ query: { before, limit, q } }) => {
      const [rows, open] = await Promise.all([
        messages.list({ before, words: q.trim(), limit: limit + 1 }),
        unfinished(),
      ]);
      const list = await Promise.all(rows.slice(0, limit).map((row) => summary(row, open)));
      return { messages: list, more: rows.length > limit };
    }),
    implement(mailApi.message, async ({ params }) => {
      const message = await found(params['id']);
      const [open, source] = await Promise.all([unfinished(), spool.read(message.id)]);
      // Reading may take the bytes away into a thread of its own.
      const shown = source === undefined ? null : Buffer.from(source.subarray(0, shownBytes)).toString('utf8');
      const length = source?.byteLength ?? 0;
      const mail = source === undefined ? undefined : await readMail(source, clock);
      const notice = mail === undefined ? undefined : noticeOfMail({ ...mail, attachments: [] }, 'info');
      const parts = deliveriesOf(mappings, message.recipients).map(({ target, type }, part) => {
        const job = open.get(`${message.id}:${String(part)}`);
        return { ...{ target, type, state: stateOf(job) }, reason: job?.lastError ?? null, job: jobOf(job) };
      });
      const again = [...open]
        .filter(([key, job]) => key.startsWith(`${message.id}:`) && Number(key.split(':')[1]) >= parts.length && job)
        .map(([, job]) => ({
          ...{ target: 'Sent again', type: 'info' as const, state: stateOf(job) },
          ...{ reason: job.lastError, job: jobOf(job) },
        }));
      return {
        ...(await summary(message, open)),
        ...{ from: mail?.from ?? '', body: notice?.body ?? '', format: notice?.format ?? 'text' },
        attachments: (mail?.attachments ?? []).slice(0, 200).map(({ name, type }) => ({ name, type })),
        ...{ source: shown, cut: length > shownBytes, deliveries: [...parts, ...again] },
      };
    }),
    implement(mailApi.resend, async ({ params }) => {
      const { id, recipients } = await found(params['id']);
      if ((await spool.head(id, 1)) === undefined) {
        throw new Problem('mail.source_gone', 410, 'The source of this mail is no longer in the spool.');
      }
      const deliveries = deliveriesOf(mappings, recipients);
      if (deliveries.length === 0) {
        throw new Problem('mail.no_target', 409, 'Its recipients lead nowhere now. Add them to the recipients first.');
      }
      // A part of its own, else those who got it before would take it for known.
      const first = Math.floor(clock.now() / 10);
      await commit((transaction) =>
        jobs.enqueueAll(
          transaction,
          deliver,
          deliveries.map(({ target, type }, index) => ({
            payload: { message: id, part: first + index, target, type },
            key: `${id}:${String(first + index)}`,
            orderKey: target,
          })),
        ),
      );
      log.info('mail sent again', { id, deliveries: deliveries.length });
      return { deliveries: deliveries.length };
    }),
    implement(mailApi.remove, async ({ params }) => {
      const { id } = await found(params['id']);
      // As the clearing does it: a crash in between leaves a row that it takes later.
      await spool.remove(id);
      await messages.remove([id]);
      log.info('mail removed', { id });
      return { ok: true as const };
    }),
    implement(mailApi.check, ({ query: { address } }) => {
      const match = matchRecipient(mappings, address);
      return { match: match === undefined ? null : { targets: match.targets.map(targetName), type: match.type } };
    }),
  ];
}

function stateOf(job: JobSummary | undefined): SpooledMail['state'] {
  if (job === undefined) return 'delivered';
  return job.state === 'dead' ? 'dead' : 'waiting';
}

function jobOf(job: JobSummary | undefined): string | null {
  return job?.state === 'dead' ? job.id : null;
}
