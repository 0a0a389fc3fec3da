import type { z } from 'zod';
import { BytesReply, FileReply, implement, type ApiHandler } from '../../contracts/api.ts';
import { mailApi, type SpooledMail } from '../../contracts/mail/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Activity } from '../../kit/activity.ts';
import type { CachedQuery } from '../../kit/cached-query.ts';
import { deliver, buildDeliveryJobs, toDeliveryKey } from '../deliver/delivery-worker.ts';
import { buildDeliveries } from '../domain/deliveries.ts';
import { toNotification, defaultOptions } from '../domain/notification.ts';
import { matchRecipient } from '../domain/recipients.ts';
import { formatTarget } from '../domain/target.ts';
import type { MailReceiver } from '../accept/mail-receiver.ts';
import type { Routing } from '../accept/routing.ts';
import type { MailReader } from '../mime/reader.ts';
import { parseSubject } from '../mime/subject.ts';
import { Refusal } from '../smtp/refusal.ts';
import type { MessageStore, StoredMessage } from '../store/messages.ts';
import type { SourceLocation, Sources } from '../store/sources.ts';
import { buildTestMail } from './test-mail.ts';
import { toDeliveries, toStateFilter, toSummary, type JobsByKey } from './views.ts';

/** Dependencies of the routes. */
export interface ApiDependencies {
  readonly context: Context;
  readonly routing: Routing;
  readonly mailReceiver: MailReceiver;
  readonly messages: MessageStore;
  readonly sources: Sources;
  readonly reader: MailReader;
  readonly activity: Activity;
  readonly outcomes: CachedQuery<z.infer<typeof mailApi.outcomes.reply>>;
}

/** Number of bytes searched for the subject of a listed mail. */
const headBytes = 16 * 1024;
/** Maximum number of source bytes shown. */
const maxSourceBytes = 64 * 1024;
const maxAttachments = 200;

/** Handlers of the mail service's app API: the spool and the routing of addresses. */
export function mailHandlers({ context, routing, ...dependencies }: ApiDependencies): readonly ApiHandler[] {
  const { clock, commit, jobs, log, random } = context;
  const { mailReceiver, messages, sources, reader, activity, outcomes } = dependencies;

  const findJobs = async (list: readonly StoredMessage[]): Promise<JobsByKey> => {
    const keys = list.flatMap(({ id, deliveries }) => deliveries.map((_, part) => toDeliveryKey(id, part)));
    if (keys.length === 0) return new Map();
    const jobList = await jobs.list({ kind: deliver.name, keys, limit: keys.length });
    return new Map(jobList.map((job) => [job.key ?? '', job]));
  };
  const toSummaries = async (list: readonly StoredMessage[]): Promise<readonly SpooledMail[]> => {
    const jobsByKey = await findJobs(list);
    const subjects = await Promise.all(list.map(getSubject));
    return list.map((message, index) => toSummary(message, toDeliveries(message, jobsByKey), subjects[index] ?? ''));
  };
  const getSubject = async ({ id, subject }: StoredMessage): Promise<string> => {
    const head = subject === undefined ? await sources.head(id, headBytes) : undefined;
    return subject ?? parseSubject(getHeader(head ?? Buffer.alloc(0)));
  };
  const requireMessage = async (id = ''): Promise<StoredMessage> => {
    const message = await messages.find(id);
    if (message !== undefined) return message;
    throw new Problem('mail.unknown', 404, 'This mail is no longer in the spool.');
  };
  const requireSource = async (id: string): Promise<SourceLocation> => {
    const location = await sources.findLocation(id);
    if (location !== undefined) return location;
    throw new Problem('mail.source_gone', 410, 'The source of this mail is gone.');
  };

  return [
    implement(mailApi.check, ({ query: { address } }) => {
      const match = matchRecipient(routing.mappings, address);
      if (match === undefined) return { accepted: false, code: 550, pattern: null, type: null, targets: [] };
      const { mapping, type } = match;
      return { accepted: true, code: 250, pattern: mapping.address, type, targets: mapping.targets.map(formatTarget) };
    }),
    implement(mailApi.messages, async ({ query: { before, limit, q = '', state } }) => {
      const [time = '', id = ''] = before?.split('.') ?? [];
      const filter = { words: q.trim(), limit, ...(await toStateFilter(jobs, state)) };
      const matches: SpooledMail[] = [];
      let position = before === undefined ? undefined : { receivedAt: Number(time), id };
      for (;;) {
        const page = await messages.list({ ...filter, before: position });
        const summaries = await toSummaries(page);
        // No job record remains of mails delivered long ago.
        matches.push(...(state === 'done' ? summaries.filter((each) => each.state === 'done') : summaries));
        if (page.length < limit || matches.length >= limit) return { messages: matches.slice(0, limit) };
        position = page.at(-1);
      }
    }),
    implement(mailApi.outcomes, () => outcomes.get()),
    implement(mailApi.message, async ({ params }) => {
      const message = await requireMessage(params['id']);
      const [raw, jobsByKey] = await Promise.all([sources.read(message.id), findJobs([message])]);
      // Copied first, because the reader may transfer the bytes to a thread.
      const source = raw === undefined ? null : new TextDecoder().decode(raw.subarray(0, maxSourceBytes));
      const sourceCut = raw !== undefined && raw.byteLength > maxSourceBytes;
      const mail = raw === undefined ? undefined : await reader.read(raw);
      const notice = mail === undefined ? undefined : toNotification(mail, defaultOptions);
      const deliveries = toDeliveries(message, jobsByKey);
      return {
        ...toSummary(message, deliveries, mail?.subject ?? message.subject ?? ''),
        from: mail?.from ?? '',
        body: notice?.body ?? '',
        format: notice?.format ?? 'text',
        attachments: (mail?.attachments ?? [])
          .slice(0, maxAttachments)
          .map(({ name, type, size }) => ({ name, type, size })),
        source,
        sourceCut,
        deliveries,
      };
    }),
    implement(mailApi.source, async ({ params }) => {
      const { id } = await requireMessage(params['id']);
      const place = await requireSource(id);
      const replyOptions = { type: 'message/rfc822', saveAs: `${id}.eml` };
      return 'path' in place
        ? new FileReply({ ...place, ...replyOptions })
        : new BytesReply({ ...place, ...replyOptions });
    }),
    implement(mailApi.test, async ({ body: { address } }) => {
      const recipient = address.includes('@') ? address : `${address}@localhost`;
      try {
        return { id: await mailReceiver.receiveLocal(...buildTestMail(recipient, clock.now(), random.text(12))) };
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const detail = `${String(error.responseCode)} ${error.message}.`;
        throw new Problem('mail.refused', 422, detail, { fields: { address: detail } });
      }
    }),
    implement(mailApi.resend, async ({ params }) => {
      const { id, recipients } = await requireMessage(params['id']);
      const added = buildDeliveries(routing, recipients);
      if (added.length === 0)
        throw new Problem('mail.no_target', 409, 'Its recipients lead nowhere now. Add them to the recipients first.');
      await requireSource(id);
      await commit(async (transaction) => {
        const previous = (await messages.find(id, transaction))?.deliveries;
        if (previous === undefined) throw new Problem('mail.unknown', 404, 'This mail is no longer in the spool.');
        await messages.updateDeliveries(transaction, id, [...previous, ...added]);
        await jobs.enqueueAll(transaction, deliver, buildDeliveryJobs(id, added, previous.length));
      });
      log.info('mail resent', { id, deliveries: added.length });
      activity.touch();
      return { deliveries: added.length };
    }),
    implement(mailApi.remove, async ({ params }) => {
      const message = await requireMessage(params['id']);
      for (const { id, state } of (await findJobs([message])).values()) if (state !== 'done') await jobs.drop(id);
      // Deletes the file first: a row without source is shown and can be deleted, and a file without row is cleared
      // later.
      await sources.removeFiles([message.id]);
      await commit((transaction) => messages.remove([message.id], transaction));
      log.info('mail removed', { id: message.id });
      activity.touch();
      return { ok: true } as const;
    }),
  ];
}

/** Returns everything before the first empty line. */
function getHeader(head: Uint8Array): string {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1');
  return text.split(/\r?\n\r?\n/, 1)[0] ?? '';
}
