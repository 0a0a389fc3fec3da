import type { z } from 'zod';
import { BytesReply, FileReply, implement, type ApiHandler } from '../../contracts/api.ts';
import { mailApi, type SpooledMail } from '../../contracts/mail/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Activity } from '../../kit/activity.ts';
import type { CachedQuery } from '../../kit/cached-query.ts';
import { deliver, deliveryJobs, deliveryKey } from '../deliver/delivery-worker.ts';
import { deliveriesOf } from '../domain/deliveries.ts';
import { noticeOfMail, plainTelling } from '../domain/notification.ts';
import { matchRecipient } from '../domain/recipients.ts';
import { targetName } from '../domain/target.ts';
import type { Gateway } from '../accept/mail-receiver.ts';
import type { Routing } from '../accept/routing.ts';
import type { MailReader } from '../mime/reader.ts';
import { subjectIn } from '../mime/subject.ts';
import { Refusal } from '../smtp/refusal.ts';
import type { MessageStore, StoredMessage } from '../store/messages.ts';
import type { Place, Sources } from '../store/sources.ts';
import { testMail } from './test-mail.ts';
import { deliveriesFor, narrowedBy, summaryOf, type KnownJobs } from './views.ts';

/** What the routes work with. */
export interface ApiParts {
  readonly context: Context;
  readonly routing: Routing;
  readonly gateway: Gateway;
  readonly messages: MessageStore;
  readonly sources: Sources;
  readonly reader: MailReader;
  readonly activity: Activity;
  readonly outcomes: CachedQuery<z.infer<typeof mailApi.outcomes.reply>>;
}

/** The subject of a list's row is looked for in so many bytes. */
const headBytes = 16 * 1024;
/** Of a source this much is shown. */
const sourceBytes = 64 * 1024;
const mostAttachments = 200;

/** The service's part of our own API: the spool, and where addresses lead. */
export function mailHandlers({ context, routing, ...parts }: ApiParts): readonly ApiHandler[] {
  const { clock, commit, jobs, log, random } = context;
  const { gateway, messages, sources, reader, activity, outcomes } = parts;

  const jobsOf = async (list: readonly StoredMessage[]): Promise<KnownJobs> => {
    const keys = list.flatMap(({ id, deliveries }) => deliveries.map((_, part) => deliveryKey(id, part)));
    if (keys.length === 0) return new Map();
    const found = await jobs.list({ kind: deliver.name, keys, limit: keys.length });
    return new Map(found.map((job) => [job.key ?? '', job]));
  };
  const summariesOf = async (list: readonly StoredMessage[]): Promise<readonly SpooledMail[]> => {
    const known = await jobsOf(list);
    const subjects = await Promise.all(list.map(subjectOf));
    return list.map((message, index) => summaryOf(message, deliveriesFor(message, known), subjects[index] ?? ''));
  };
  const subjectOf = async ({ id, subject }: StoredMessage): Promise<string> => {
    const head = subject === undefined ? await sources.head(id, headBytes) : undefined;
    return subject ?? subjectIn(headerOf(head ?? Buffer.alloc(0)));
  };
  const find = async (id = ''): Promise<StoredMessage> => {
    const message = await messages.find(id);
    if (message !== undefined) return message;
    throw new Problem('mail.unknown', 404, 'This mail is no longer in the spool.');
  };
  const placeOf = async (id: string): Promise<Place> => {
    const place = await sources.place(id);
    if (place !== undefined) return place;
    throw new Problem('mail.source_gone', 410, 'The source of this mail is gone.');
  };

  return [
    implement(mailApi.check, ({ query: { address } }) => {
      const match = matchRecipient(routing.mappings, address);
      if (match === undefined) return { accepted: false, code: 550, pattern: null, type: null, targets: [] };
      const { mapping, type } = match;
      return { accepted: true, code: 250, pattern: mapping.address, type, targets: mapping.targets.map(targetName) };
    }),
    implement(mailApi.messages, async ({ query: { before, limit, q = '', state } }) => {
      const [time = '', id = ''] = before?.split('.') ?? [];
      const narrow = { words: q.trim(), limit, ...(await narrowedBy(jobs, state)) };
      const found: SpooledMail[] = [];
      let last = before === undefined ? undefined : { receivedAt: Number(time), id };
      for (;;) {
        const list = await messages.list({ ...narrow, before: last });
        const summaries = await summariesOf(list);
        // Of what was passed on long ago nothing is noted any more.
        found.push(...(state === 'done' ? summaries.filter((each) => each.state === 'done') : summaries));
        if (list.length < limit || found.length >= limit) return { messages: found.slice(0, limit) };
        last = list.at(-1);
      }
    }),
    implement(mailApi.outcomes, () => outcomes.get()),
    implement(mailApi.message, async ({ params }) => {
      const message = await find(params['id']);
      const [raw, known] = await Promise.all([sources.read(message.id), jobsOf([message])]);
      // The reader may move the bytes into a thread, so what is shown of them is taken first.
      const source = raw === undefined ? null : new TextDecoder().decode(raw.subarray(0, sourceBytes));
      const sourceCut = raw !== undefined && raw.byteLength > sourceBytes;
      const mail = raw === undefined ? undefined : await reader.read(raw);
      const notice = mail === undefined ? undefined : noticeOfMail(mail, plainTelling);
      const deliveries = deliveriesFor(message, known);
      return {
        ...summaryOf(message, deliveries, mail?.subject ?? message.subject ?? ''),
        ...{ from: mail?.from ?? '', body: notice?.body ?? '', format: notice?.format ?? 'text' },
        attachments: (mail?.attachments ?? [])
          .slice(0, mostAttachments)
          .map(({ name, type, size }) => ({ name, type, size })),
        ...{ source, sourceCut, deliveries },
      };
    }),
    implement(mailApi.source, async ({ params }) => {
      const { id } = await find(params['id']);
      const place = await placeOf(id);
      const shown = { type: 'message/rfc822', saveAs: `${id}.eml` };
      return 'path' in place ? new FileReply({ ...place, ...shown }) : new BytesReply({ ...place, ...shown });
    }),
    implement(mailApi.test, async ({ body: { address } }) => {
      const recipient = address.includes('@') ? address : `${address}@localhost`;
      try {
        return { id: await gateway.take(...testMail(recipient, clock.now(), random.text(12))) };
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const detail = `${String(error.responseCode)} ${error.message}.`;
        throw new Problem('mail.refused', 422, detail, { fields: { address: detail } });
      }
    }),
    implement(mailApi.resend, async ({ params }) => {
      const { id, recipients } = await find(params['id']);
      const added = deliveriesOf(routing, recipients);
      if (added.length === 0)
        throw new Problem('mail.no_target', 409, 'Its recipients lead nowhere now. Add them to the recipients first.');
      await placeOf(id);
      await commit(async (transaction) => {
        const former = (await messages.find(id, transaction))?.deliveries;
        if (former === undefined) throw new Problem('mail.unknown', 404, 'This mail is no longer in the spool.');
        await messages.noteDeliveries(transaction, id, [...former, ...added]);
        await jobs.enqueueAll(transaction, deliver, deliveryJobs(id, added, former.length));
      });
      log.info('mail sent again', { id, deliveries: added.length });
      activity.touch();
      return { deliveries: added.length };
    }),
    implement(mailApi.remove, async ({ params }) => {
      const message = await find(params['id']);
      for (const { id, state } of (await jobsOf([message])).values()) if (state !== 'done') await jobs.drop(id);
      // A file first: a row without one is shown and can be removed, a file without a row only waits for the clearing.
      await sources.removeFiles([message.id]);
      await commit((transaction) => messages.remove([message.id], transaction));
      log.info('mail removed', { id: message.id });
      activity.touch();
      return { ok: true } as const;
    }),
  ];
}

/** Everything before the first empty line. */
function headerOf(head: Uint8Array): string {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1');
  return text.split(/\r?\n\r?\n/, 1)[0] ?? '';
}
