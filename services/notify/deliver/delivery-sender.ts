import type { z } from 'zod';
import type { Context } from '../../contracts/service.ts';
import type { deliver } from './job.ts';
import type { Destination, DeliveryResult } from '../destinations/destination.ts';
import { openProgress } from '../destinations/progress.ts';
import { joinMessages, attachFiles } from '../domain/digest.ts';
import { replaceShortCodes } from '../domain/emoji.ts';
import type { Attachment, Message } from '../domain/message.ts';
import type { SealedDestinations } from '../keys/sealed-destinations.ts';
import type { Settings } from '../settings.ts';
import { updateProgress } from '../store/delivery-progress.ts';
import type { OpenDelivery } from '../store/notifications.ts';
import type { NotifyStores } from '../store/stores.ts';

type Payload = z.infer<typeof deliver.schema>;

type NotificationFiles = Pick<OpenDelivery, 'message' | 'files'>;

/** Message with its attachments and its progress. */
interface CombinedMessage {
  readonly message: Message;
  /** Notifications that the message combines, with their files. */
  readonly group: readonly NotificationFiles[];
  /** Progress of previous attempts; undefined if it is not recorded. */
  readonly progress: string | undefined;
}

/** Builds the message of a delivery with its files and sends it. */
export class DeliverySender {
  readonly #context: Context;
  readonly #stores: Pick<NotifyStores, 'attachments' | 'folder'>;
  readonly #sealed: SealedDestinations;
  readonly #settings: Readonly<Pick<Settings, 'emojis'>>;

  constructor(
    context: Context,
    stores: Pick<NotifyStores, 'attachments' | 'folder'>,
    sealed: SealedDestinations,
    settings: Readonly<Pick<Settings, 'emojis'>>,
  ) {
    this.#context = context;
    this.#stores = stores;
    this.#sealed = sealed;
    this.#settings = settings;
  }

  /** Sends the incomplete deliveries of a group as one message. */
  async send(group: readonly OpenDelivery[], signal: AbortSignal, payload: Payload): Promise<DeliveryResult> {
    const last = group.at(-1);
    const [first] = group;
    const messages = group.map((each) => each.message);
    const message = await this.#context.inHostLanguage(() =>
      joinMessages(messages, `${first?.message.id ?? ''}:digest`),
    );
    if (last === undefined || message === undefined) return { ok: true, detail: 'There was nothing left to send.' };
    const destination = this.#sealed.open(last);
    if (typeof destination === 'string') {
      return {
        ok: false,
        retryable: false,
        code: 'invalid_address',
        detail: `The ${last.service} destination is not valid: ${destination}`,
      };
    }
    // A combined message changes when one of its deliveries fails permanently, so its progress would not apply.
    const progress = group.length === 1 ? last.progress : undefined;
    return this.sendToDestination(destination, { message, group, progress }, signal, payload);
  }

  /** Sends to one destination and records the progress of a message that needs several requests. */
  async sendToDestination(
    destination: Destination,
    { message, group, progress: storedProgress }: CombinedMessage,
    signal: AbortSignal,
    { destination: destinationId, retries }: Payload,
  ): Promise<DeliveryResult> {
    const files = (await Promise.all(group.map((each) => this.#listAttachments(each)))).flat();
    const messageWithFiles =
      group.length > 1
        ? await this.#context.inHostLanguage(() => attachFiles(message, files))
        : files.length > 0
          ? { ...message, attachments: files }
          : message;
    const finalMessage = this.#replacesShortCodes(destination)
      ? {
          ...messageWithFiles,
          title: replaceShortCodes(messageWithFiles.title),
          body: replaceShortCodes(messageWithFiles.body),
        }
      : messageWithFiles;
    const save = (progress: string): Promise<void> =>
      this.#context.commit((transaction) => updateProgress(transaction, message.id, destinationId, progress));
    const progress = storedProgress === undefined ? undefined : openProgress(storedProgress, save);
    return destination.send(finalMessage, this.#context, signal, { retries, progress });
  }

  /** Returns whether short codes are replaced by emojis. The setting `no` overrides the URL, as in Apprise API. */
  #replacesShortCodes({ emojis }: Destination): boolean {
    const emojiSetting = this.#settings.emojis;
    return emojiSetting === 'yes' ? emojis !== false : emojiSetting === 'asked' && emojis === true;
  }

  async #listAttachments({ message, files }: NotificationFiles): Promise<readonly Attachment[]> {
    const storedProgress = files === 0 ? [] : await this.#stores.attachments.list(message.id);
    return storedProgress.map(({ file, ...each }) => ({
      ...each,
      openFile: () => this.#stores.folder.openFile(file),
      read: () => this.#stores.folder.read(file),
    }));
  }
}
