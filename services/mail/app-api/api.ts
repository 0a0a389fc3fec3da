import * as m from '#messages/mail-problems';
import type { z } from 'zod';
import { BytesReply, implement, type ApiHandler } from '../../contracts/api.ts';
import { mailApi, type SpooledMail } from '../../contracts/mail/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Activity } from '../../kit/activity.ts';
import { buildBlobReply } from '../../kit/http/blob-reply.ts';
import type { CachedQuery } from '../../kit/cached-query.ts';
import { deliver, buildDeliveryJobs } from '../deliver/delivery-worker.ts';
import { buildDeliveries } from '../domain/deliveries.ts';
import { toNotification, defaultOptions } from '../domain/notification.ts';
import { matchRecipient } from '../domain/recipients.ts';
import { formatTarget } from '../domain/target.ts';
import type { MailReceiver } from '../accept/mail-receiver.ts';
import type { Routing } from '../routing/routing.ts';
import type { MailReader } from '../mime/reader.ts';
import { Refusal } from '../accept/refusal.ts';
import type { MessageStore } from '../store/messages.ts';
import type { Sources } from '../store/sources.ts';
import { buildTestMail } from './test-mail.ts';
import { SpoolView } from './spool-view.ts';
import { toDeliveries, toStateFilter, toSummary } from './views.ts';

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

/** Maximum number of source bytes shown. */
const maxSourceBytes = 64 * 1024;
const maxAttachments = 200;

/** Handlers of the mail service's app API: the spool and the routing of addresses. */
export function mailHandlers(dependencies: ApiDependencies): readonly ApiHandler[] {
  const spool = new SpoolView(dependencies);
  return [
    ...routingHandlers(dependencies),
    ...spoolHandlers(dependencies, spool),
    ...resendHandlers(dependencies, spool),
    ...removalHandlers(dependencies, spool),
  ];
}

/** Handlers that try the routing of an address. */
function routingHandlers({ context, routing, mailReceiver }: ApiDependencies): readonly ApiHandler[] {
  const { clock, random } = context;
  return [
    implement(mailApi.check, ({ query: { address } }) => {
      const match = matchRecipient(routing.mappings, address);
      if (match === undefined) return { accepted: false, code: 550, pattern: null, type: null, targets: [] };
      const { mapping, type } = match;
      return { accepted: true, code: 250, pattern: mapping.address, type, targets: mapping.targets.map(formatTarget) };
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
  ];
}

/** Handlers that list mails and return their contents. */
function spoolHandlers(dependencies: ApiDependencies, spool: SpoolView): readonly ApiHandler[] {
  const { context, messages, outcomes, reader, sources } = dependencies;
  const { jobs } = context;
  return [
    implement(mailApi.messages, async ({ query: { before, limit, q = '', state } }) => {
      const [time = '', id = ''] = before?.split('.') ?? [];
      const filter = { words: q.trim(), limit, ...(await toStateFilter(jobs, state)) };
      const matches: SpooledMail[] = [];
      let position = before === undefined ? undefined : { receivedAt: Number(time), id };
      for (;;) {
        const page = await messages.list({ ...filter, before: position });
        const summaries = await spool.toSummaries(page);
        // No job record remains of mails delivered long ago.
        matches.push(...(state === 'done' ? summaries.filter((each) => each.state === 'done') : summaries));
        if (page.length < limit || matches.length >= limit) return { messages: matches.slice(0, limit) };
        position = page.at(-1);
      }
    }),
    implement(mailApi.outcomes, () => outcomes.get()),
    implement(mailApi.message, async ({ params }) => {
      const message = await spool.requireMessage(params['id']);
      const [raw, jobsByKey] = await Promise.all([sources.read(message.id), spool.findJobs([message])]);
      // Copied first, because the reader may transfer the bytes to a thread.
      const source = raw === undefined ? null : new TextDecoder().decode(raw.subarray(0, maxSourceBytes));
      const sourceCut = raw !== undefined && raw.byteLength > maxSourceBytes;
      const mail = raw === undefined ? undefined : await reader.read(raw);
      const notification = mail === undefined ? undefined : toNotification(mail, defaultOptions);
      const deliveries = toDeliveries(message, jobsByKey);
      return {
        ...toSummary(message, deliveries, mail?.subject ?? message.subject ?? ''),
        from: mail?.from ?? '',
        body: notification?.body ?? '',
        format: notification?.format ?? 'text',
        attachments: (mail?.attachments ?? [])
          .slice(0, maxAttachments)
          .map(({ name, type, size }) => ({ name, type, size })),
        source,
        sourceCut,
        deliveries,
      };
    }),
    implement(mailApi.source, async ({ params }) => {
      const { id } = await spool.requireMessage(params['id']);
      const place = await spool.requireSource(id);
      const replyOptions = { type: 'message/rfc822', saveAs: `${id}.eml` };
      return 'key' in place
        ? buildBlobReply(context.blobs, place.key, replyOptions)
        : new BytesReply({ ...place, ...replyOptions });
    }),
  ];
}

/** Handlers that send a mail again to the current targets of its recipients. */
function resendHandlers(dependencies: ApiDependencies, spool: SpoolView): readonly ApiHandler[] {
  const { activity, context, messages, routing } = dependencies;
  const { commit, jobs, log } = context;
  return [
    implement(mailApi.resend, async ({ params }) => {
      const { id, recipients } = await spool.requireMessage(params['id']);
      const added = buildDeliveries(routing, recipients);
      if (added.length === 0) throw new Problem('mail.no_target', 409, m.noTarget());
      await spool.requireSource(id);
      await commit(async (transaction) => {
        const previous = (await messages.find(id, transaction))?.deliveries;
        if (previous === undefined) throw new Problem('mail.unknown', 404, m.unknownMail());
        await messages.updateDeliveries(transaction, id, [...previous, ...added]);
        await jobs.enqueueAll(transaction, deliver, buildDeliveryJobs(id, added, previous.length));
      });
      log.info('mail resent', { id, deliveries: added.length });
      activity.touch();
      return { deliveries: added.length };
    }),
  ];
}

/** Handlers that remove a mail from the spool. */
function removalHandlers(dependencies: ApiDependencies, spool: SpoolView): readonly ApiHandler[] {
  const { activity, context, messages, sources } = dependencies;
  const { commit, jobs, log } = context;
  return [
    implement(mailApi.remove, async ({ params }) => {
      const message = await spool.requireMessage(params['id']);
      for (const { id, state } of (await spool.findJobs([message])).values()) if (state !== 'done') await jobs.drop(id);
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
