import type { NotificationContent, TextFormat } from '../../contracts/notify/notification.ts';

/** A file that goes with a notice. Its bytes are read when a destination takes files, and not before. */
export interface Attachment {
  /** File name without a path. */
  readonly name: string;
  /** Media type, e.g. `image/png`. */
  readonly type: string;
  /** In bytes. */
  readonly size: number;
  /** Absolute path, for programs that read it by themselves. */
  readonly path?: string;
  readonly read: () => Promise<Uint8Array>;
}

/** A notice on its way to a destination. */
export interface Message {
  /** Identity of the notice on its whole way; what a destination can use to tell a repetition. */
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly type: NotificationContent['type'];
  readonly format: TextFormat;
  readonly tags: readonly string[];
  readonly link: string | undefined;
  readonly source: string;
  /** When the notice was accepted, in ms since the epoch. */
  readonly time: number;
  readonly attachments?: readonly Attachment[];
  /** How many aggregators passed it on before this one; none when unset. Passed on with one more, so that loops end. */
  readonly hops?: number;
}
