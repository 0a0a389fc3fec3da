/** A button of a notification. */
export interface Action {
  readonly id: string;
  readonly action: string;
  readonly label: string;
  readonly clear: boolean;
  readonly url?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly intent?: string;
  readonly extras?: Readonly<Record<string, string>>;
  readonly value?: string;
}

/** `type`, `size` (bytes) and `expires` (unix seconds) are there for files that this server keeps. */
export interface Attachment {
  readonly name: string;
  readonly type?: string;
  readonly size?: number;
  readonly expires?: number;
  readonly url: string;
}

/** A file that this server keeps for a message, under the message's id. */
export interface HeldFile {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  /** Unix seconds. */
  readonly expires: number;
  /** Whose quota it counts for. */
  readonly sender: string;
}

export type Event = 'open' | 'keepalive' | 'message' | 'message_delete' | 'message_clear' | 'poll_request';

/**
 * One event as subscribers see it, under the peer's field names. Clients look at which fields are there, so a field
 * without a value is left out: `sequence_id` when it is the id itself, `priority` when the publisher gave none.
 */
export interface Message {
  readonly id: string;
  readonly sequence_id?: string;
  /** Unix seconds. */
  readonly time: number;
  /** Unix seconds; only for cached messages. */
  readonly expires?: number;
  readonly event: Event;
  /** For open and keepalive: the list of topics as it was asked for. */
  readonly topic: string;
  readonly title?: string;
  readonly message?: string;
  readonly priority?: number;
  readonly tags?: readonly string[];
  readonly click?: string;
  readonly icon?: string;
  readonly actions?: readonly Action[];
  readonly attachment?: Attachment;
  readonly poll_id?: string;
  readonly content_type?: string;
  readonly encoding?: string;
}

/** A message before it has an id and a time, and what is to become of it. */
export interface Draft {
  readonly event: Event;
  readonly topic: string;
  readonly sequenceId?: string | undefined;
  readonly title?: string;
  readonly message?: string;
  readonly priority?: number | undefined;
  readonly tags?: readonly string[];
  readonly click?: string;
  readonly icon?: string;
  readonly actions?: readonly Action[];
  readonly attachment?: Attachment | undefined;
  /** The attachment is kept here, and recorded together with the message. */
  readonly file?: HeldFile;
  readonly pollId?: string;
  readonly markdown?: boolean;
  readonly encoding?: string | undefined;
  /** It is to go out as mail, too; `sender` is the address of who published it. */
  readonly email?: { readonly to: string; readonly sender: string } | undefined;
  /** When it is to be delivered, in unix seconds; without it at once. */
  readonly due?: number | undefined;
  /** Who asked for one that waits. */
  readonly account?: string | undefined;
  /** Seconds after its delivery at which it expires, if that is sooner than others do. */
  readonly lifetime?: number | undefined;
  /** False: only those who listen now get it. */
  readonly cached: boolean;
  /** Set when the inbox is to show it. */
  readonly inbox?: { readonly key?: string | undefined; readonly source: string; readonly body: string } | undefined;
}

/** Gives a draft its place in time; `expires` counts for cached ones only. The fields are in the peer's order. */
export function compose(draft: Draft, given: { id: string; time: number; expires: number }): Message {
  const { sequenceId, tags, actions, attachment } = draft;
  return {
    id: given.id,
    ...(sequenceId !== undefined && sequenceId !== given.id && { sequence_id: sequenceId }),
    time: given.time,
    ...(draft.cached && { expires: given.expires }),
    event: draft.event,
    topic: draft.topic,
    ...(draft.title && { title: draft.title }),
    ...(draft.message && { message: draft.message }),
    ...(draft.priority !== undefined && { priority: draft.priority }),
    ...(tags && tags.length > 0 && { tags }),
    ...(draft.click && { click: draft.click }),
    ...(draft.icon && { icon: draft.icon }),
    ...(actions && actions.length > 0 && { actions }),
    ...(attachment && { attachment }),
    ...(draft.pollId && { poll_id: draft.pollId }),
    ...(draft.markdown && { content_type: 'text/markdown' }),
    ...(draft.encoding && { encoding: draft.encoding }),
  };
}
