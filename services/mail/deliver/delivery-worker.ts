import * as m from '#messages/mail-problems';
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
import { findDeliveryFailure } from '../domain/delivery-failure.ts';
import {
  toTopicMessage,
  toNotification,
  defaultOptions,
  type ParsedMail,
  type NotificationOptions,
} from '../domain/notification.ts';
import { parseTarget, type Target } from '../domain/target.ts';
import type { Routing } from '../routing/routing.ts';
import type { MailReader } from '../mime/reader.ts';
import type { DeliveryBackoff } from './delivery-backoff.ts';
import type { MessageStore } from '../store/messages.ts';
import type { Sources } from '../store/sources.ts';

/** Delivers one mail to one target. */
export const deliver = defineJob(
  'mail.deliver',
  z.object({
    message: z.string(),
    /** Index of the delivery in the mail; with the message id, it identifies the notification. */
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

/** Maximum number of files in one notification; further ones are named. */
const maxFiles = 20;
/** Mails with larger files are parsed again for each delivery. */
const maxCachedBytes = 1024 * 1024;

/** Returns the key of a delivery's job. */
export function toDeliveryKey(message: string, part: number): string {
  return `${message}:${String(part)}`;
}

/** Builds the jobs of deliveries with part numbers from `firstPart`; the order of mails per target is preserved. */
export function buildDeliveryJobs(message: string, deliveries: readonly Delivery[], firstPart = 0) {
  return deliveries.map(({ target, type, to, entry, priority }, index) => ({
    payload: {
      message,
      part: firstPart + index,
      target,
      type,
      to,
      entry,
      ...(priority === undefined ? {} : { priority }),
    },
    key: toDeliveryKey(message, firstPart + index),
    orderKey: target,
  }));
}

/** Records finished deliveries. */
interface DeliveryOutcomes {
  readonly processed: Counter;
  readonly activity: Activity;
}

interface WorkerDependencies {
  readonly context: Context;
  readonly routing: Routing;
  readonly messages: MessageStore;
  readonly sources: Sources;
  readonly reader: MailReader;
  readonly outcomes: DeliveryOutcomes;
  readonly deliveryBackoff: DeliveryBackoff;
  /** Improves titles and types of mails from known programs. */
  readonly recognize: () => boolean;
}

/** Delivers accepted mails to notify, push or the inbox. */
export class DeliveryWorker {
  readonly #dependencies: WorkerDependencies;
  /** Parsed mail that is reused for consecutive deliveries. */
  #latest: { readonly id: string; readonly mail: Promise<ParsedMail> } | undefined;

  constructor(dependencies: WorkerDependencies) {
    this.#dependencies = dependencies;
  }

  /** Starts processing deliveries until it is disposed. */
  start(): Disposable {
    const { context, outcomes } = this.#dependencies;
    const { processed, activity } = outcomes;
    return context.jobs.handle(deliver, (attempt) => this.#attempt(attempt).finally(() => activity.touch()), {
      onDead: ({ payload }, reason) => {
        processed.inc({ result: 'failed' });
        activity.touch();
        context.log.error('mail delivery failed', { id: payload.message, target: payload.target, reason });
      },
      logsDead: true,
    });
  }

  /** Delivers, and stores the code of a failure, from which pages show the reason in the language of their reader. */
  async #attempt(attempt: JobAttempt<Payload>): Promise<void> {
    try {
      await this.#send(attempt);
    } catch (error) {
      if (!attempt.signal.aborted) await this.#storeFailure(attempt.payload, error);
      throw error;
    }
  }

  async #storeFailure({ message: id, part }: Payload, error: unknown): Promise<void> {
    const { context, messages } = this.#dependencies;
    const failure = findDeliveryFailure(error);
    try {
      if ((await messages.find(id))?.deliveries[part]?.failure === failure) return;
      await context.commit(async (transaction) => {
        const deliveries = (await messages.find(id, transaction))?.deliveries ?? [];
        if (deliveries[part] === undefined) return;
        const changed = deliveries.map((delivery, index) => (index === part ? { ...delivery, failure } : delivery));
        await messages.updateDeliveries(transaction, id, changed);
      });
    } catch (cause) {
      context.log.warn('mail delivery failure not stored', { id, error: cause });
    }
  }

  async #send({ payload, createdAt, signal }: JobAttempt<Payload>): Promise<void> {
    const target = parseTarget(payload.target);
    if (target === undefined) throw new Problem('mail.bad_target', 400, m.targetInvalid);
    await this.#dependencies.deliveryBackoff.waitUntilIdle(createdAt, signal);
    const mail = await this.#read(payload.message);
    signal.throwIfAborted();
    // Titles and notes of notifications are for all readers.
    await this.#dependencies.context.inHostLanguage(() => this.#deliver(target, payload, mail));
  }

  async #deliver(target: Target, payload: Payload, mail: ParsedMail): Promise<void> {
    switch (target.kind) {
      case 'notify':
      case 'url':
        return this.#deliverToNotify(target, payload, mail);
      case 'inbox':
        return this.#deliverToInbox(payload, mail);
      case 'push':
        return payload.entry === topicEntry
          ? this.#deliverTopicMail(target.topic, payload, mail)
          : this.#deliverToPush(target.topic, payload, mail);
    }
  }

  async #deliverToNotify(
    target: Target & { readonly kind: 'notify' | 'url' },
    payload: Payload,
    mail: ParsedMail,
  ): Promise<void> {
    const { handovers } = this.#dependencies.context;
    const notification = toNotification(mail, this.#toNotificationOptions(payload), getAttachmentNames(mail));
    const files = getFiles(mail);
    const offer = { notice: notification, ...(files.length === 0 ? {} : { files }) };
    if (target.kind === 'url') {
      await handovers.pass(notificationOffered, getHandoverKey(payload), {
        ...offer,
        configuration: 'aggregator',
        urls: [this.#getUrl(target)],
      });
      return;
    }
    const { configuration, tag } = target;
    await handovers.pass(notificationOffered, getHandoverKey(payload), {
      ...offer,
      configuration,
      ...(tag === undefined ? {} : { tag }),
    });
  }

  async #deliverToInbox(payload: Payload, mail: ParsedMail): Promise<void> {
    const { handovers, clock } = this.#dependencies.context;
    const options = this.#toNotificationOptions(payload);
    const { title, body, format, source, type } = toNotification(mail, options, getAttachmentNames(mail));
    await handovers.pass(inboxOffered, getHandoverKey(payload), {
      title,
      body,
      format,
      source,
      tags: [],
      topic: '',
      time: clock.now(),
      priority: payload.priority ?? toPriority(type),
    });
  }

  /** Publishes the unmodified text of a mail to the address of a topic. */
  async #deliverTopicMail(topic: string, payload: Payload, mail: ParsedMail): Promise<void> {
    const { handovers } = this.#dependencies.context;
    const key = getHandoverKey(payload);
    const file = selectFile(mail);
    await handovers.pass(pushOffered, key, {
      topic,
      ...toTopicMessage(mail),
      priority: payload.priority,
      ...(file === undefined ? {} : { file }),
      tags: [],
      markdown: false,
      source: 'mail',
      origin: key,
    });
  }

  async #deliverToPush(topic: string, payload: Payload, mail: ParsedMail): Promise<void> {
    const { handovers } = this.#dependencies.context;
    const key = getHandoverKey(payload);
    const file = selectFile(mail);
    const otherNames = getAttachmentNames(mail).filter(
      (_, index) => file === undefined || mail.attachments[index]?.bytes !== file.bytes,
    );
    const notification = toNotification(mail, this.#toNotificationOptions(payload), otherNames);
    await handovers.pass(pushOffered, key, {
      topic,
      title: notification.title,
      message: toText(notification),
      tags: [],
      priority: payload.priority ?? toPriority(notification.type),
      markdown: notification.format === 'markdown',
      ...(file === undefined ? {} : { file }),
      source: notification.source,
      origin: key,
    });
  }

  #toNotificationOptions({ type, to, entry }: Payload): NotificationOptions {
    const mapping = this.#dependencies.routing.mappings.find(({ address }) => address === entry);
    const config = entry.split('@', 1)[0] ?? '';
    return {
      type,
      to,
      config,
      templates: mapping ?? defaultOptions.templates,
      recognize: this.#dependencies.recognize(),
    };
  }

  #getUrl({ fingerprint }: Target & { readonly kind: 'url' }): string {
    const url = this.#dependencies.routing.urls.get(fingerprint);
    if (url !== undefined) return url;
    throw new Problem('mail.destination_gone', 410, m.destinationGone);
  }

  #read(id: string): Promise<ParsedMail> {
    if (this.#latest?.id === id) return this.#latest.mail;
    const latest = { id, mail: this.#parse(id) };
    this.#latest = latest;
    const clear = (): void => {
      if (this.#latest === latest) this.#latest = undefined;
    };
    // Errors must not affect the next attempt, and large files must not stay in memory.
    latest.mail.then((mail) => {
      if (mail.attachments.reduce((sum, { size }) => sum + size, 0) > maxCachedBytes) clear();
    }, clear);
    return latest.mail;
  }

  async #parse(id: string): Promise<ParsedMail> {
    const raw = await this.#dependencies.sources.read(id);
    if (raw !== undefined) return this.#dependencies.reader.read(raw);
    throw new Problem('mail.source_gone', 410, m.sourceGone);
  }
}

/** Returns the key that identifies a delivery to its receiver, so that a repeated attempt has no effect. */
function getHandoverKey({ message, part }: Payload): string {
  return `mail:${message}:${String(part)}`;
}

function getAttachmentNames({ attachments }: ParsedMail): readonly string[] {
  return attachments.map(({ name }) => name);
}

function toPriority(type: NotificationType): number {
  return type === 'warning' || type === 'failure' ? 4 : 3;
}

function toText({ body, format, title }: NotificationContent): string {
  const text = format === 'html' ? htmlToText(body, { links: true }) : body;
  return text === '' ? title : text;
}

function getFiles({ attachments }: ParsedMail): NotificationFile[] {
  return attachments
    .flatMap(({ name, type, bytes }) => (bytes === undefined || bytes.length === 0 ? [] : [{ name, type, bytes }]))
    .slice(0, maxFiles);
}

/** Returns the file of a push message: the first image, or the first file. */
function selectFile(mail: ParsedMail): NotificationFile | undefined {
  const files = getFiles(mail);
  return files.find(({ type }) => /^image\//i.test(type)) ?? files[0];
}
