import type { Context } from '../../contracts/service.ts';
import { pushDelayedChanged } from '../../contracts/push/delayed.ts';
import { Activity } from '../../kit/activity.ts';
import { deleteWithAccount } from '../../kit/delete-with-account.ts';
import { Attachments, attachmentsFolder } from '../attachments/attachments.ts';
import { parseBytes } from '../domain/bytes.ts';
import { InboxFeed } from './inbox-feed.ts';
import { handleLegacyInboxJobs } from './inbox-jobs.ts';
import type { Envelope } from '../messages/envelope.ts';
import { DelayedMessages } from '../delayed/delayed-messages.ts';
import { Publisher } from './publisher.ts';
import { createWriteMessages, type WriteHook, type WriteMessages } from '../messages/write-messages.ts';
import { Retention } from '../retention/retention.ts';
import { DelayedDelivery } from '../delayed/delayed-delivery.ts';
import type { Settings } from '../settings.ts';
import { toSeconds } from '../settings/derived-settings.ts';
import { AttachmentStore } from '../store/attachments.ts';
import { FeedStore } from '../store/feed.ts';
import type { MessageStore } from '../store/messages.ts';
import { DelayedMessageStore } from '../store/delayed-messages.ts';
import { createUpstreamPolls } from './upstream.ts';

export interface DeliveryDependencies {
  readonly context: Context;
  readonly settings: Settings;
  /** Returns the retention of messages in seconds. */
  readonly cacheSeconds: () => number;
  readonly messages: MessageStore;
  /** Run in the transaction that writes messages. */
  readonly writeHooks: readonly WriteHook[];
  /** Deletes messages from the search index. */
  readonly removeFromSearch: (transaction: Context['db'], seqs: readonly number[]) => Promise<void>;
  /** Sends messages to subscribers; the next commit waits for it. */
  readonly onPublished: (envelopes: readonly Envelope[]) => Promise<void>;
}

/** Path of a message from draft to subscribers, including attachments and delays. */
export class Delivery implements AsyncDisposable {
  readonly messages: MessageStore;
  readonly publisher: Publisher;
  readonly writeMessages: WriteMessages;
  readonly attachments: Attachments;
  readonly delayedStore: DelayedMessageStore;
  readonly delayedMessages: DelayedMessages;
  /** Notifies pages, debounced, that the list of delayed messages changed. */
  readonly notifyDelayedChanged: () => void;
  readonly retention: Retention;
  /** Returns the number of the last message that the inbox has read. */
  readonly inboxCursor: () => number;
  /** Returns the retention of messages in seconds. */
  readonly cacheSeconds: () => number;
  /** Returns the public address of this server; undefined without a listener. */
  readonly baseUrl: () => string | undefined;
  readonly #dependencies: DeliveryDependencies;
  readonly #files: AttachmentStore;
  readonly #upstream: ReturnType<typeof createUpstreamPolls>;
  readonly #delayedActivity: Activity;
  readonly #feed: InboxFeed;
  readonly #delayedDelivery: DelayedDelivery;

  constructor(dependencies: DeliveryDependencies) {
    const { context, settings, messages, writeHooks } = dependencies;
    this.#dependencies = dependencies;
    this.baseUrl = () => settings.baseUrl || context.address('push');
    this.messages = messages;
    this.cacheSeconds = dependencies.cacheSeconds;
    this.delayedStore = new DelayedMessageStore(context.db);
    this.#files = new AttachmentStore(context.db);
    this.attachments = this.#createAttachments();
    this.#upstream = createUpstreamPolls(context, settings);
    this.#delayedActivity = new Activity(context, pushDelayedChanged);
    this.notifyDelayedChanged = this.#delayedActivity.touch;
    this.retention = this.#createRetention();
    this.#feed = new InboxFeed(context, new FeedStore(context.db));
    this.inboxCursor = () => this.#feed.cursor;
    this.writeMessages = createWriteMessages(messages, [this.#upstream.store, this.retention.store, ...writeHooks]);
    this.publisher = this.#createPublisher();
    this.#delayedDelivery = this.#createDelayedDelivery();
    this.delayedMessages = this.#createDelayedMessages();
    context.metrics.gauge({
      name: 'push_messages_scheduled',
      help: 'Messages that wait for their time.',
      collect: () => this.delayedStore.count(),
    });
    context.metrics.gauge({
      name: 'push_attachments_bytes',
      help: 'Size of all files that are kept.',
      collect: () => this.#files.size(),
    });
  }

  async start(): Promise<Disposable> {
    const { context } = this.#dependencies;
    using resources = new DisposableStack();
    resources.use(await this.#feed.start());
    resources.use(handleLegacyInboxJobs(context));
    resources.use(this.#upstream.start());
    resources.use(this.#delayedActivity);
    resources.use(deleteWithAccount(context, 'plans', (account) => this.delayedMessages.detachAccount(account)));
    resources.use(await this.retention.start());
    // A store that does not respond must not delay the start.
    if (context.blobs.getPath(attachmentsFolder) !== undefined) await this.attachments.removeOrphans();
    return resources.move();
  }

  /** Begins to publish delayed messages; the disposal waits for the commit in progress. */
  startDelayed(): AsyncDisposable {
    return this.#delayedDelivery.start();
  }

  /** Reads the time of the next delayed message, which another host may have accepted. */
  refreshDelayed(): Promise<void> {
    return this.#delayedDelivery.refresh();
  }

  /** Notifies the inbox of messages that other hosts may have published. */
  notifyInbox(): void {
    this.#feed.notifyGrown();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.publisher.close();
  }

  #createAttachments(): Attachments {
    const { context, settings } = this.#dependencies;
    return new Attachments(context, this.#files, {
      get fileSize() {
        return parseBytes(settings.attachmentFileSizeLimit) ?? 0;
      },
      get totalSize() {
        return parseBytes(settings.attachmentTotalSizeLimit) ?? 0;
      },
      get seconds() {
        return toSeconds(settings.attachmentExpiryDuration);
      },
      baseUrl: this.baseUrl,
    });
  }

  #createRetention(): Retention {
    const { context, messages, removeFromSearch } = this.#dependencies;
    return new Retention({
      context,
      messages,
      attachments: this.#files,
      removeFromSearch,
      deleteFiles: (ids) => this.#deleteFiles(ids),
      defaultSeconds: this.cacheSeconds,
    });
  }

  #createPublisher(): Publisher {
    const { context, settings, messages, onPublished } = this.#dependencies;
    return new Publisher({
      context,
      stores: { messages, delayedMessages: this.delayedStore, attachments: this.#files },
      writeMessages: this.writeMessages,
      retention: {
        cacheSeconds: this.cacheSeconds,
        keptSeconds: (topic) => this.retention.keptSeconds(topic),
        get keepInInbox() {
          return settings.keepInInbox;
        },
      },
      observer: {
        onPublished: async (envelopes) => {
          this.#feed.notifyGrown();
          await onPublished(envelopes);
        },
        onScheduled: (time) => {
          this.#delayedDelivery.expect(time);
          this.#delayedActivity.touch();
        },
        onCancelled: (ids) => {
          this.#deleteFiles(ids);
          this.#delayedActivity.touch();
        },
      },
    });
  }

  #createDelayedDelivery(): DelayedDelivery {
    return new DelayedDelivery({
      context: this.#dependencies.context,
      store: this.delayedStore,
      writeMessages: this.writeMessages,
      keptSeconds: (topic) => this.retention.keptSeconds(topic),
      announce: (envelopes) => {
        if (envelopes.length > 0) this.#delayedActivity.touch();
        return this.publisher.announce(envelopes);
      },
    });
  }

  #createDelayedMessages(): DelayedMessages {
    return new DelayedMessages({
      context: this.#dependencies.context,
      store: this.delayedStore,
      attachments: this.#files,
      writeMessages: this.writeMessages,
      announce: (envelopes) => this.publisher.announce(envelopes),
      observer: { onRescheduled: (time) => this.#delayedDelivery.expect(time), onChanged: this.notifyDelayedChanged },
      deleteFiles: (ids) => this.#deleteFiles(ids),
      keptSeconds: (topic) => this.retention.keptSeconds(topic),
    });
  }

  #deleteFiles(ids: readonly string[]): void {
    this.attachments
      .deleteFiles(ids)
      .catch((error: unknown) => this.#dependencies.context.log.error('attachment deletion failed', { error }));
  }
}
