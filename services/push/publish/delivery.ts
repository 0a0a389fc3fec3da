import type { Context } from '../../contracts/service.ts';
import { pushPlanned } from '../../contracts/push/delayed.ts';
import { Activity } from '../../kit/activity.ts';
import { forgetRemoved } from '../../kit/forget-removed.ts';
import { Attachments } from '../attachments/attachments.ts';
import { parseBytes } from '../domain/bytes.ts';
import { parseDuration } from '../domain/duration.ts';
import { InboxFeed } from './inbox-feed.ts';
import { handOldInboxJobs } from './inbox-jobs.ts';
import type { Envelope } from '../subscribe/envelope.ts';
import { DelayedMessages } from '../delayed/delayed-messages.ts';
import { Publisher } from './publisher.ts';
import { createWriteMessages, type AlsoStore, type WriteMessages } from './write-messages.ts';
import { Retention } from '../retention/retention.ts';
import { Schedule } from '../delayed/delayed-delivery.ts';
import type { Settings } from '../settings.ts';
import { AttachmentStore } from '../store/attachments.ts';
import { FeedStore } from '../store/feed.ts';
import type { MessageStore } from '../store/messages.ts';
import { DelayedMessageStore } from '../store/delayed-messages.ts';
import { upstreamPolls } from './upstream.ts';

export interface DeliveryParts {
  readonly context: Context;
  readonly settings: Settings;
  readonly messages: MessageStore;
  /** Writes what else is to be there with messages, in their transaction. */
  readonly also: readonly AlsoStore[];
  /** Forgets the words of messages that go. */
  readonly forget: (transaction: Context['db'], seqs: readonly number[]) => Promise<void>;
  /** Passes messages on to whoever listens; the next commit waits for it. */
  readonly onPublished: (envelopes: readonly Envelope[]) => Promise<void>;
}

/** The way of a message: from a draft, perhaps with a file, perhaps over a time to wait, to whoever listens. */
export interface Delivery extends AsyncDisposable {
  readonly publisher: Publisher;
  readonly record: WriteMessages;
  readonly attachments: Attachments;
  readonly waiting: DelayedMessageStore;
  readonly planned: DelayedMessages;
  /** Tells the pages, soon, that other messages wait than before. */
  readonly plansChanged: () => void;
  readonly retention: Retention;
  /** The inbox has the messages up to this number. */
  readonly taken: () => number;
  /** Seconds that a message is kept. */
  readonly cacheSeconds: () => number;
  /** Where clients reach this server; undefined while it has no listener. */
  readonly baseUrl: () => string | undefined;
  start(): Promise<Disposable>;
  eachMinute(): Promise<void>;
  eachHour(): Promise<void>;
}

export function openDelivery({ context, settings, messages, also, forget, onPublished }: DeliveryParts): Delivery {
  const { metrics, log } = context;
  const baseUrl = (): string | undefined => settings.baseUrl || context.address('push');
  const cacheSeconds = readSeconds(() => settings.cacheDuration);
  const waiting = new DelayedMessageStore(context.db);
  const files = new AttachmentStore(context.db);
  const attachments = new Attachments(context, files, {
    get fileSize() {
      return parseBytes(settings.attachmentFileSizeLimit) ?? 0;
    },
    get totalSize() {
      return parseBytes(settings.attachmentTotalSizeLimit) ?? 0;
    },
    get seconds() {
      return seconds(settings.attachmentExpiryDuration);
    },
    baseUrl,
  });
  const upstream = upstreamPolls(context, settings);
  const plans = new Activity(context, pushPlanned);
  const discard = (ids: readonly string[]): void => {
    attachments.discard(ids).catch((error: unknown) => log.error('files were not removed', { error }));
  };
  const retention = new Retention({
    context,
    messages,
    attachments: files,
    removeFromSearch: forget,
    deleteFiles: discard,
    defaultSeconds: cacheSeconds,
  });
  const keptSeconds = (topic: string): number => retention.keptSeconds(topic);
  const feed = new InboxFeed(context, new FeedStore(context.db));
  const record = createWriteMessages(messages, [upstream.store, retention.store, ...also]);
  const publisher = new Publisher({
    context,
    messages,
    schedule: waiting,
    attachments: files,
    record,
    cacheSeconds,
    keptSeconds,
    get keepInInbox() {
      return settings.keepInInbox;
    },
    async onPublished(envelopes) {
      feed.grown();
      await onPublished(envelopes);
    },
    onScheduled(time) {
      schedule.expect(time);
      plans.touch();
    },
    onCancelled(ids) {
      discard(ids);
      plans.touch();
    },
  });
  const schedule = new Schedule({
    context,
    store: waiting,
    record,
    keptSeconds,
    announce(envelopes) {
      if (envelopes.length > 0) plans.touch();
      return publisher.announce(envelopes);
    },
  });
  const planned = new DelayedMessages({
    context,
    store: waiting,
    attachments: files,
    record,
    announce: (envelopes) => publisher.announce(envelopes),
    expect: (time) => schedule.expect(time),
    discard,
    keptSeconds,
    changed: plans.touch,
  });
  metrics.gauge({
    name: 'push_messages_scheduled',
    help: 'Messages that wait for their time.',
    collect: () => waiting.count(),
  });
  metrics.gauge({
    name: 'push_attachments_bytes',
    help: 'Size of all files that are kept.',
    collect: () => files.size(),
  });

  return {
    publisher,
    record,
    attachments,
    waiting,
    planned,
    plansChanged: plans.touch,
    retention,
    taken: () => feed.taken,
    cacheSeconds,
    baseUrl,
    async start() {
      using open = new DisposableStack();
      open.use(await feed.start());
      open.use(handOldInboxJobs(context));
      open.use(upstream.start());
      open.use(plans);
      open.use(forgetRemoved(context, 'plans', (account) => planned.forget(account)));
      await retention.start();
      await attachments.cleanOrphans();
      await schedule.look();
      return open.move();
    },
    async eachMinute() {
      feed.grown();
      await attachments.clean();
      await schedule.look();
    },
    eachHour: () => attachments.cleanOrphans(),
    async [Symbol.asyncDispose]() {
      await schedule[Symbol.asyncDispose]();
      await publisher.close();
    },
  };
}

/** A duration of the settings, read anew when it was changed: it is asked for with each message. */
function readSeconds(read: () => string): () => number {
  let [text, value] = ['', 0];
  return () => {
    const now = read();
    if (now !== text) [text, value] = [now, seconds(now)];
    return value;
  };
}

/** Of a duration that the settings' schema has looked at. */
export function seconds(duration: string): number {
  return Math.floor((parseDuration(duration) ?? 0) / 1000);
}
