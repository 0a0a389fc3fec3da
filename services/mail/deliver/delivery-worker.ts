import { z } from 'zod';
import { inboxOffered } from '../../contracts/inbox/api.ts';
import { defineJob, type JobAttempt } from '../../contracts/jobs.ts';
import {
  notificationOffered,
  NotificationType,
  type NotificationContent,
  type NotificationFile,
} from '../../contracts/notify/notification.ts';
import { htmlToText } from '../../kit/plain-text.ts';
import { Problem } from '../../contracts/problem.ts';
import { pushOffered } from '../../contracts/push/topics.ts';
import type { Context } from '../../contracts/service.ts';
import type { Counter } from '../../contracts/metrics.ts';
import type { Activity } from '../../kit/activity.ts';
import { topicEntry, type Delivery } from '../domain/deliveries.ts';
import { messageOfMail, noticeOfMail, plainTelling, type ParsedMail, type Telling } from '../domain/notification.ts';
import { parseTarget, type Target } from '../domain/target.ts';
import type { Routing } from '../accept/routing.ts';
import type { MailReader } from '../mime/reader.ts';
import type { Admission } from '../accept/delivery-backoff.ts';
import type { Sources } from '../store/sources.ts';

/** One mail to one target. */
export const deliver = defineJob(
  'mail.deliver',
  z.object({
    message: z.string(),
    /** Which of the mail's deliveries: with the message's id it is the notice's identity. */
    part: z.int(),
    target: z.string(),
    type: NotificationType,
    to: z.string().default(''),
    entry: z.string().default(''),
    priority: z.int().optional(),
  }),
  { concurrency: 4, timeoutMs: 120_000 },
);
type Payload = z.infer<typeof deliver.schema>;

/** Files that go with one notice at most; the others are named. */
const mostFiles = 20;
/** A mail whose files are larger is read anew for each of its deliveries. */
const keptBytes = 1024 * 1024;

/** The job of one delivery, as the outbox knows it. */
export function deliveryKey(message: string, part: number): string {
  return `${message}:${String(part)}`;
}

/** Jobs for deliveries whose first has the part number `from`; the order of mails to one target is kept. */
export function deliveryJobs(message: string, deliveries: readonly Delivery[], from = 0) {
  return deliveries.map(({ target, type, to, entry, priority }, index) => ({
    payload: { message, part: from + index, target, type, to, entry, ...(priority === undefined ? {} : { priority }) },
    key: deliveryKey(message, from + index),
    orderKey: target,
  }));
}

interface Parts {
  readonly context: Context;
  readonly routing: Routing;
  readonly sources: Sources;
  readonly reader: MailReader;
  readonly processed: Counter;
  readonly activity: Activity;
  readonly admission: Admission;
  /** Mails of known programs get better titles and types. */
  readonly recognise: () => boolean;
}

/** Hands accepted mails over to the aggregator, the push server or the inbox. */
export class Deliveries {
  readonly #parts: Parts;
  /** A mail with several targets is read once, as long as they follow each other. */
  #latest: { readonly id: string; readonly mail: Promise<ParsedMail> } | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Begins to work; the disposal stops taking new deliveries. */
  start(): Disposable {
    const { context, processed, activity } = this.#parts;
    return context.jobs.handle(deliver, (attempt) => this.#attempt(attempt).finally(() => activity.touch()), {
      onDead: ({ payload }, reason) => {
        processed.inc({ result: 'failed' });
        activity.touch();
        context.log.error('mail could not be handed over', { id: payload.message, target: payload.target, reason });
      },
      logsDead: true,
    });
  }

  async #attempt({ payload, createdAt, signal }: JobAttempt<Payload>): Promise<void> {
    const target = parseTarget(payload.target);
    if (target === undefined) throw new Problem('mail.bad_target', 400, 'The destination of this mail is not valid.');
    await this.#parts.admission.over(createdAt, signal);
    const mail = await this.#read(payload.message);
    signal.throwIfAborted();
    await this.#pass(target, payload, mail);
  }

  async #pass(target: Target, payload: Payload, mail: ParsedMail): Promise<void> {
    const { handovers, clock } = this.#parts.context;
    const key = `mail:${payload.message}:${String(payload.part)}`;
    const telling = this.#tellingOf(payload);
    const names = mail.attachments.map(({ name }) => name);
    const priority = payload.priority;
    if (target.kind === 'notify' || target.kind === 'url') {
      const notice = noticeOfMail(mail, telling, names);
      const files = filesOf(mail);
      const offer = { notice, ...(files.length === 0 ? {} : { files }) };
      if (target.kind === 'url') {
        await handovers.pass(notificationOffered, key, {
          ...offer,
          configuration: 'aggregator',
          urls: [this.#urlOf(target)],
        });
        return;
      }
      const { configuration, tag } = target;
      await handovers.pass(notificationOffered, key, {
        ...offer,
        configuration,
        ...(tag === undefined ? {} : { tag }),
      });
      return;
    }
    if (target.kind === 'inbox') {
      const { title, body, format, source, type } = noticeOfMail(mail, telling, names);
      await handovers.pass(inboxOffered, key, {
        ...{ title, body, format, source, tags: [], topic: '', time: clock.now() },
        priority: priority ?? priorityOf(type),
      });
      return;
    }
    const file = pictureOf(mail);
    const withFile = file === undefined ? {} : { file };
    if (payload.entry === topicEntry) {
      const told = messageOfMail(mail);
      const rest = { tags: [], markdown: false, source: 'mail', origin: key };
      await handovers.pass(pushOffered, key, { topic: target.topic, ...told, priority, ...withFile, ...rest });
      return;
    }
    const notice = noticeOfMail(
      mail,
      telling,
      names.filter((_, index) => file === undefined || mail.attachments[index]?.bytes !== file.bytes),
    );
    await handovers.pass(pushOffered, key, {
      ...{ topic: target.topic, title: notice.title, message: textOf(notice), tags: [] },
      priority: priority ?? priorityOf(notice.type),
      markdown: notice.format === 'markdown',
      ...withFile,
      ...{ source: notice.source, origin: key },
    });
  }

  #tellingOf({ type, to, entry }: Payload): Telling {
    const mapping = this.#parts.routing.mappings.find(({ address }) => address === entry);
    const config = entry.split('@', 1)[0] ?? '';
    return { type, to, config, wording: mapping ?? plainTelling.wording, recognise: this.#parts.recognise() };
  }

  #urlOf({ fingerprint }: Target & { readonly kind: 'url' }): string {
    const url = this.#parts.routing.urls.get(fingerprint);
    if (url !== undefined) return url;
    throw new Problem('mail.destination_gone', 410, 'This destination is no longer among the recipients.');
  }

  #read(id: string): Promise<ParsedMail> {
    if (this.#latest?.id === id) return this.#latest.mail;
    const latest = { id, mail: this.#parse(id) };
    this.#latest = latest;
    const forget = (): void => {
      if (this.#latest === latest) this.#latest = undefined;
    };
    // A failure must not stick to the next attempt, nor large files to memory; who waits gets them all the same.
    latest.mail.then((mail) => {
      if (mail.attachments.reduce((sum, { size }) => sum + size, 0) > keptBytes) forget();
    }, forget);
    return latest.mail;
  }

  async #parse(id: string): Promise<ParsedMail> {
    const raw = await this.#parts.sources.read(id);
    if (raw !== undefined) return this.#parts.reader.read(raw);
    throw new Problem('mail.source_gone', 410, 'The source of this mail is no longer in the spool.');
  }
}

function priorityOf(type: NotificationType): number {
  return type === 'warning' || type === 'failure' ? 4 : 3;
}

function textOf({ body, format, title }: NotificationContent): string {
  const text = format === 'html' ? htmlToText(body, { links: true }) : body;
  return text === '' ? title : text;
}

function filesOf({ attachments }: ParsedMail): NotificationFile[] {
  return attachments
    .flatMap(({ name, type, bytes }) => (bytes === undefined || bytes.length === 0 ? [] : [{ name, type, bytes }]))
    .slice(0, mostFiles);
}

/** The one file a push message carries: the first picture, else the first file. */
function pictureOf(mail: ParsedMail): NotificationFile | undefined {
  const files = filesOf(mail);
  return files.find(({ type }) => /^image\//i.test(type)) ?? files[0];
}
