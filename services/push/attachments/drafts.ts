import { open } from 'node:fs/promises';
import type { Context } from '../../contracts/service.ts';
import { plainName } from '../domain/attachment-name.ts';
import type { Attachment, HeldFile } from '../domain/message.ts';
import { refuse } from '../domain/refusals.ts';
import type { AttachmentStore } from '../store/attachments.ts';
import type { Attachments, Upload } from './attachments.ts';
import { kindOf, tellingBytes } from './file-type.ts';

/** How long a file waits for its message; s. */
const patience = 3600;

/** Files that were uploaded before their message is written, as a form does. */
export class FileDrafts {
  readonly #context: Pick<Context, 'clock' | 'commit'>;
  readonly #store: AttachmentStore;
  readonly #attachments: Attachments;

  constructor(context: Pick<Context, 'clock' | 'commit'>, store: AttachmentStore, attachments: Attachments) {
    this.#context = context;
    this.#store = store;
    this.#attachments = attachments;
  }

  /**
   * Takes in a file; it waits an hour for {@link claim}.
   *
   * @throws Problem as `receive` of the attachments
   */
  async hold(upload: Omit<Upload, 'messageExpires' | 'due'>): Promise<HeldFile> {
    const sender = draftOf(upload.sender);
    const quota = upload.quota - (await this.#store.size(sender));
    const received = await this.#attachments.receive({ ...upload, quota, messageExpires: Infinity, due: undefined });
    using _room = received.room;
    const file = { ...received.file, sender, expires: this.#now() + patience };
    await this.#context.commit((transaction) => this.#store.insert(transaction, [file]));
    return file;
  }

  /**
   * The file with this id that its sender has uploaded, as the attachment of the message with the same id. Once.
   *
   * @throws Problem 40015
   */
  async claim(
    given: Pick<Upload, 'id' | 'name' | 'sender' | 'messageExpires' | 'due'>,
  ): Promise<Attachment | undefined> {
    const { id, sender, messageExpires, due } = given;
    const now = this.#now();
    const expires = Math.min(now + this.#attachments.bounds.seconds, messageExpires);
    if (due !== undefined && expires < due) throw refuse('attachment_expires_first');
    const found = await this.#attachments.find(id);
    if (found === undefined) return undefined;
    const claimed = { id, sender, draft: draftOf(sender), name: plainName(given.name), expires, now };
    const file = await this.#context.commit((transaction) => this.#store.claim(transaction, claimed));
    if (file === undefined) return undefined;
    const { name, type, size } = file;
    const { ending } = await kindOf(await firstBytes(found.path), name);
    return { name, type, size, expires, url: this.#attachments.addressOf(id, ending) };
  }

  #now(): number {
    return Math.floor(this.#context.clock.now() / 1000);
  }
}

/** Whose quota a file counts for until its message is there. */
function draftOf(sender: string): string {
  return `draft of ${sender}`;
}

async function firstBytes(path: string): Promise<Buffer> {
  await using handle = await open(path);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(tellingBytes), 0, tellingBytes, 0);
  return buffer.subarray(0, bytesRead);
}
