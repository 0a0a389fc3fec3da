import type { Context } from '../../contracts/service.ts';
import { pushDelayedChanged } from '../../contracts/push/delayed.ts';
import { Activity } from '../../kit/activity.ts';
import { deleteWithAccount } from '../../kit/delete-with-account.ts';
import { Attachments } from '../attachments/attachments.ts';
import { parseBytes } from '../domain/bytes.ts';
import { parseDuration } from '../domain/duration.ts';
import { InboxFeed } from './inbox-feed.ts';
import { handleLegacyInboxJobs } from './inbox-jobs.ts';
import type { Envelope } from '../subscribe/envelope.ts';
import { DelayedMessages } from '../delayed/delayed-messages.ts';
import { Publisher } from './publisher.ts';
import { createWriteMessages, type WriteHook, type WriteMessages } from './write-messages.ts';
import { Retention } from '../retention/retention.ts';
import { DelayedDelivery } from '../delayed/delayed-delivery.ts';
import type { Settings } from '../settings.ts';
import { AttachmentStore } from '../store/attachments.ts';
import { FeedStore } from '../store/feed.ts';
import type { MessageStore } from '../store/messages.ts';
import { DelayedMessageStore } from '../store/delayed-messages.ts';
import { createUpstreamPolls } from './upstream.ts';

export interface DeliveryDependencies {
  readonly context: Context;
  readonly settings: Settings;
  readonly messages: MessageStore;
  /** Run in the transaction that writes messages. */
  readonly writeHooks: readonly WriteHook[];
  /** Deletes messages from the search index. */
  readonly removeFromSearch: (transaction: Context['db'], seqs: readonly number[]) => Promise<void>;
  /** Sends messages to subscribers; the next commit waits for it. */
  readonly onPublished: (envelopes: readonly Envelope[]) => Promise<void>;
}

/** Path of a message from draft to subscribers, including attachments and delays. */
export interface Delivery extends AsyncDisposable {
  readonly publisher: Publisher;
  readonly writeMessages: WriteMessages;
  readonly attachments: Attachments;
  readonly delayedStore: DelayedMessageStore;
  readonly delayedMessages: DelayedMessages;
  /** Notifies pages, debounced, that the list of delayed messages changed. */
  readonly notifyDelayedChanged: () => void;
  readonly retention: Retention;
  /** Number of the last message that the inbox has read. */
  readonly inboxCursor: () => number;
  /** Retention of messages in seconds. */
  readonly cacheSeconds: () => number;
  /** Public address of this server; undefined without a listener. */
  readonly baseUrl: () => string | undefined;
  start(): Promise<Disposable>;
  runMinutely(): Promise<void>;
  runHourly(): Promise<void>;
}

export function openDelivery({
  context,
  settings,
  messages,
  writeHooks,
  removeFromSearch,
  onPublished,
}: DeliveryDependencies): Delivery {
  const { metrics, log } = context;
  const baseUrl = (): string | undefined => settings.baseUrl || context.address('push');
  const cacheSeconds = memoizeSeconds(() => settings.cacheDuration);
  const delayedStore = new DelayedMessageStore(context.db);
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
  const upstream = createUpstreamPolls(context, settings);
  const delayedActivity = new Activity(context, pushDelayedChanged);
  const deleteFiles = (ids: readonly string[]): void => {
    attachments.deleteFiles(ids).catch((error: unknown) => log.error('attachment deletion failed', { error }));
  };
  const retention = new Retention({
    context,
    messages,
    attachments: files,
    removeFromSearch,
    deleteFiles,
    defaultSeconds: cacheSeconds,
  });
  const keptSeconds = (topic: string): number => retention.keptSeconds(topic);
  const feed = new InboxFeed(context, new FeedStore(context.db));
  const writeMessages = createWriteMessages(messages, [upstream.store, retention.store, ...writeHooks]);
  const publisher = new Publisher({
    context,
    messages,
    delayedMessages: delayedStore,
    attachments: files,
    writeMessages,
    cacheSeconds,
    keptSeconds,
    get keepInInbox() {
      return settings.keepInInbox;
    },
    async onPublished(envelopes) {
      feed.notifyGrown();
      await onPublished(envelopes);
    },
    onScheduled(time) {
      delayedDelivery.expect(time);
      delayedActivity.touch();
    },
    onCancelled(ids) {
      deleteFiles(ids);
      delayedActivity.touch();
    },
  });
  const delayedDelivery = new DelayedDelivery({
    context,
    store: delayedStore,
    writeMessages,
    keptSeconds,
    announce(envelopes) {
      if (envelopes.length > 0) delayedActivity.touch();
      return publisher.announce(envelopes);
    },
  });
  const delayedMessages = new DelayedMessages({
    context,
    store: delayedStore,
    attachments: files,
    writeMessages,
    announce: (envelopes) => publisher.announce(envelopes),
    onRescheduled: (time) => delayedDelivery.expect(time),
    deleteFiles,
    keptSeconds,
    onChanged: delayedActivity.touch,
  });
  metrics.gauge({
    name: 'push_messages_scheduled',
    help: 'Messages that wait for their time.',
    collect: () => delayedStore.count(),
  });
  metrics.gauge({
    name: 'push_attachments_bytes',
    help: 'Size of all files that are kept.',
    collect: () => files.size(),
  });

  return {
    publisher,
    writeMessages,
    attachments,
    delayedStore,
    delayedMessages,
    notifyDelayedChanged: delayedActivity.touch,
    retention,
    inboxCursor: () => feed.cursor,
    cacheSeconds,
    baseUrl,
    async start() {
      using resources = new DisposableStack();
      resources.use(await feed.start());
      resources.use(handleLegacyInboxJobs(context));
      resources.use(upstream.start());
      resources.use(delayedActivity);
      resources.use(deleteWithAccount(context, 'plans', (account) => delayedMessages.detachAccount(account)));
      await retention.start();
      await attachments.removeOrphans();
      await delayedDelivery.refresh();
      return resources.move();
    },
    async runMinutely() {
      feed.notifyGrown();
      await attachments.removeExpired();
      await delayedDelivery.refresh();
    },
    runHourly: () => attachments.removeOrphans(),
    async [Symbol.asyncDispose]() {
      await delayedDelivery[Symbol.asyncDispose]();
      await publisher.close();
    },
  };
}

/** Reads a duration of the settings and caches it until the setting changes, because it is used for each message. */
function memoizeSeconds(read: () => string): () => number {
  let [text, value] = ['', 0];
  return () => {
    const current = read();
    if (current !== text) [text, value] = [current, seconds(current)];
    return value;
  };
}

/** Converts a validated duration to seconds. */
export function seconds(duration: string): number {
  return Math.floor((parseDuration(duration) ?? 0) / 1000);
}
