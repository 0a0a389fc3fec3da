import type { z } from 'zod';
import type { Context } from '../../contracts/service.ts';
import type { AttachmentFolder } from '../attachments/folder.ts';
import type { deliver } from './job.ts';
import type { Destination, Result } from '../destinations/destination.ts';
import { openProgress } from '../destinations/progress.ts';
import { joinMessages, withFiles } from '../domain/digest.ts';
import { withPictures } from '../domain/emoji.ts';
import type { Attachment, Message } from '../domain/message.ts';
import type { SealedDestinations } from '../keys/sealed-destinations.ts';
import type { Settings } from '../settings.ts';
import type { AttachmentStore } from '../store/attachments.ts';
import { noteProgress } from '../store/delivery-progress.ts';
import type { OpenDelivery } from '../store/notifications.ts';

type Payload = z.infer<typeof deliver.schema>;

type WithFiles = Pick<OpenDelivery, 'message' | 'files'>;

/** A message with what goes with it. */
interface Whole {
  readonly message: Message;
  /** Those that it says; their files go with it. */
  readonly group: readonly WithFiles[];
  /** As it was stored by the attempts before; undefined where pieces are not to be remembered. */
  readonly progress: string | undefined;
}

/** Makes the message of a delivery, with its files, and sends it. */
export class Sending {
  readonly #context: Context;
  readonly #attachments: AttachmentStore;
  readonly #folder: AttachmentFolder;
  readonly #sealed: SealedDestinations;
  readonly #emojis: () => Settings['emojis'];

  constructor(
    context: Context,
    parts: {
      readonly attachments: AttachmentStore;
      readonly folder: AttachmentFolder;
      readonly sealed: SealedDestinations;
      readonly emojis: () => Settings['emojis'];
    },
  ) {
    this.#context = context;
    this.#attachments = parts.attachments;
    this.#folder = parts.folder;
    this.#sealed = parts.sealed;
    this.#emojis = parts.emojis;
  }

  /** What is still to be sent, as one message. */
  async send(group: readonly OpenDelivery[], signal: AbortSignal, payload: Payload): Promise<Result> {
    const last = group.at(-1);
    const [first] = group;
    const message = joinMessages(
      group.map((each) => each.message),
      `${first?.message.id ?? ''}:digest`,
    );
    if (last === undefined || message === undefined) return { ok: true, detail: 'There was nothing left to send.' };
    const destination = this.#sealed.open(last);
    if (typeof destination === 'string') {
      return {
        ok: false,
        retryable: false,
        detail: `The ${last.service} destination is not valid: ${destination}.`,
      };
    }
    // What is joined is another message as soon as one of it is given up, so its pieces are others too.
    const progress = group.length === 1 ? last.progress : undefined;
    return this.sendTo(destination, { message, group, progress }, signal, payload);
  }

  /** Sends to one destination; what of several requests was confirmed is remembered. */
  async sendTo(
    destination: Destination,
    { message, group, progress: stored }: Whole,
    signal: AbortSignal,
    { destination: to, retries }: Payload,
  ): Promise<Result> {
    const files = (await Promise.all(group.map((each) => this.#filesOf(each)))).flat();
    const whole =
      group.length > 1 ? withFiles(message, files) : files.length > 0 ? { ...message, attachments: files } : message;
    const dressed = this.#shows(destination)
      ? { ...whole, title: withPictures(whole.title), body: withPictures(whole.body) }
      : whole;
    const save = (progress: string): Promise<void> =>
      this.#context.commit((transaction) => noteProgress(transaction, message.id, to, progress));
    const progress = stored === undefined ? undefined : openProgress(stored, save);
    return destination.send(dressed, this.#context, signal, { retries, progress });
  }

  /** Whether short codes become pictures there; a setting that forbids them wins over the URL, as in the peer. */
  #shows({ emojis }: Destination): boolean {
    const asked = this.#emojis();
    return asked === 'yes' ? emojis !== false : asked === 'asked' && emojis === true;
  }

  async #filesOf({ message, files }: WithFiles): Promise<readonly Attachment[]> {
    const stored = files === 0 ? [] : await this.#attachments.of(message.id);
    return stored.map(({ file, ...each }) => ({
      ...each,
      path: this.#folder.pathOf(file),
      read: () => this.#folder.read(file),
    }));
  }
}
