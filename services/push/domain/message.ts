/** Action button of a notification. */
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

/** `type`, `size` (bytes) and `expires` (unix seconds) are set for files stored on this server. */
export interface Attachment {
  readonly name: string;
  readonly type?: string;
  readonly size?: number;
  readonly expires?: number;
  readonly url: string;
}

/** Attachment stored on this server under the message id. */
export interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  /** Unix seconds. */
  readonly expires: number;
  /** Sender whose quota is used. */
  readonly sender: string;
}

export type Event = 'open' | 'keepalive' | 'message' | 'message_delete' | 'message_clear' | 'poll_request';

/**
 * Event as sent to subscribers, with ntfy's field names. Fields without value are omitted, because clients test for
 * presence: `sequence_id` when equal to the id, `priority` when not set by the publisher.
 */
export interface Message {
  readonly id: string;
  readonly sequence_id?: string;
  /** Unix seconds. */
  readonly time: number;
  /** Unix seconds; only for cached messages. */
  readonly expires?: number;
  readonly event: Event;
  /** For open and keepalive: the requested list of topics. */
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

/** Message without id and time, and delivery options. */
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
  /** Attachment stored on this server and recorded together with the message. */
  readonly file?: StoredFile;
  readonly pollId?: string;
  readonly markdown?: boolean;
  readonly encoding?: string | undefined;
  /** Recipient of the message as mail; `sender` is the address of the publisher. */
  readonly email?: { readonly to: string; readonly sender: string } | undefined;
  /** Delivery time in unix seconds; immediately when omitted. */
  readonly due?: number | undefined;
  /** Account that scheduled the message. */
  readonly account?: string | undefined;
  /** Maximum lifetime after delivery in seconds. */
  readonly lifetime?: number | undefined;
  /** When false, only current subscribers receive the message. */
  readonly cached: boolean;
  /** Set when the message is stored in the inbox. */
  readonly inbox?: { readonly key?: string | undefined; readonly source: string; readonly body: string } | undefined;
}

/** Builds the message of a draft with fields in ntfy's order; `expires` applies to cached messages only. */
export function compose(draft: Draft, context: { id: string; time: number; expires: number }): Message {
  const { sequenceId, tags, actions, attachment } = draft;
  return {
    id: context.id,
    ...(sequenceId !== undefined && sequenceId !== context.id && { sequence_id: sequenceId }),
    time: context.time,
    ...(draft.cached && { expires: context.expires }),
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
