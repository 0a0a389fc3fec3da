import type { Context } from '../../contracts/service.ts';
import { sanitizeFileName } from '../domain/attachment-name.ts';
import type { Attachment, StoredFile } from '../domain/message.ts';
import { refuse } from '../domain/refusals.ts';
import type { AttachmentStore } from '../store/attachments.ts';
import type { Attachments } from './attachments.ts';
import type { Upload } from './upload.ts';
import { detectFileType } from './file-type.ts';

/** Seconds that an uploaded file is kept for its message. */
const draftLifetimeSeconds = 3600;

/** Files uploaded before their message is published, for example in a form. */
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
   * Receives a file and keeps it for {@link draftLifetimeSeconds} until {@link claim}.
   *
   * @throws Problem as `Attachments.receive`
   */
  async receive(upload: Omit<Upload, 'messageExpires' | 'due'>): Promise<StoredFile> {
    const sender = toDraftSender(upload.sender);
    const quota = upload.quota - (await this.#store.size(sender));
    const received = await this.#attachments.receive({ ...upload, quota, messageExpires: Infinity, due: undefined });
    using _room = received.reservation;
    const file = { ...received.file, sender, expires: this.#now() + draftLifetimeSeconds };
    await this.#context.commit((transaction) => this.#store.insert(transaction, [file]));
    return file;
  }

  /**
   * Returns the file that the sender uploaded under this id as the attachment of the message with the same id. A draft
   * can be claimRequest once.
   *
   * @throws Problem 40015
   */
  async claim(
    request: Pick<Upload, 'id' | 'name' | 'sender' | 'messageExpires' | 'due'>,
  ): Promise<Attachment | undefined> {
    const { id, sender, messageExpires, due } = request;
    const now = this.#now();
    const expires = Math.min(now + this.#attachments.bounds.seconds, messageExpires);
    if (due !== undefined && expires < due) throw refuse('attachment_expires_first');
    const stored = await this.#attachments.find(id);
    if (stored === undefined) return undefined;
    const claimRequest = {
      id,
      sender,
      draft: toDraftSender(sender),
      name: sanitizeFileName(request.name),
      expires,
      now,
    };
    const file = await this.#context.commit((transaction) => this.#store.claim(transaction, claimRequest));
    if (file === undefined) return undefined;
    const { name, type, size } = file;
    const { extension } = await detectFileType(await this.#attachments.readHead(stored), name);
    return { name, type, size, expires, url: this.#attachments.buildUrl(id, extension) };
  }

  #now(): number {
    return Math.floor(this.#context.clock.now() / 1000);
  }
}

/** Returns the sender that owns a draft until its message is published. */
function toDraftSender(sender: string): string {
  return `draft of ${sender}`;
}
