import type { LocalBlob } from '../../contracts/blobs.ts';
import type { NotificationContent, TextFormat } from '../../contracts/notify/notification.ts';

/** Attachment of a notification. Its bytes are read only for destinations that support files. */
export interface Attachment {
  /** File name without a path. */
  readonly name: string;
  /** Media type, e.g. `image/png`. */
  readonly type: string;
  /** In bytes. */
  readonly size: number;
  /** Provides the file for programs that read it themselves; undefined if it no longer exists. */
  readonly openFile?: () => Promise<LocalBlob | undefined>;
  readonly read: () => Promise<Uint8Array>;
}

/** Notification in the form in which it is delivered. */
export interface Message {
  /** ID of the notification on all routes; destinations can use it to recognize repetitions. */
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly type: NotificationContent['type'];
  readonly format: TextFormat;
  readonly tags: readonly string[];
  readonly link: string | undefined;
  readonly source: string;
  /** Time of acceptance in ms since the epoch. */
  readonly time: number;
  readonly attachments?: readonly Attachment[];
  /** Number of aggregators that forwarded it; unset for none. It is incremented when forwarded, so that loops end. */
  readonly hops?: number;
}
