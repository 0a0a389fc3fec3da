import type { Handovers } from '../../contracts/bus.ts';
import type { Connect, Fetch } from '../../contracts/outgoing.ts';
import type { Clock, Random } from '../../contracts/service.ts';
import type { Message } from '../domain/message.ts';
import type { Progress } from './progress.ts';
import type { FormDefinition } from './form-definition.ts';
import type { DestinationUrl } from './url.ts';

/** Ways out of the process that a destination may use. */
export interface DeliveryContext {
  readonly fetch: Fetch;
  /** Opens connections of other protocols than HTTP, except to Homeport's own listeners. */
  readonly connect?: Connect;
  readonly handovers: Handovers;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly random: Random;
}

/** How an attempt ended. `detail` is a sentence for the owner and holds no secret. */
export type DeliveryResult =
  | { readonly ok: true; readonly detail: string }
  | {
      readonly ok: false;
      /** False: trying again cannot help. */
      readonly retryable: boolean;
      /** Not earlier than this many ms from now. */
      readonly retryAfterMs?: number;
      /** Given up after this attempt, where it stays the same until someone changes something. */
      readonly lastAttempt?: number;
      /** HTTP status of the answer, where there was one. */
      readonly status?: number;
      readonly detail: string;
    };

/** What a call asks of a sending. */
export interface SendOptions {
  /** Tries besides the first, in place of what the URL says. */
  readonly retries?: number | undefined;
  /** What of it was confirmed before, and where that is noted. */
  readonly progress?: Progress | undefined;
}

/** One place notices go to, made from its URL. It keeps no state and no connection. */
export interface Destination {
  /** The service's name as the peer shows it, e.g. `JSON`. */
  readonly service: string;
  /** A failure here does not make the whole call fail. */
  readonly optional: boolean;
  /** Whether `:rocket:` becomes a picture there; undefined: as the settings say. */
  readonly emojis?: boolean | undefined;
  /** The URL in its normal form; `masked` hides passwords, tokens and header values. */
  url(masked: boolean): string;
  /** Fits the message to what can be shown there and sends it. Does not throw for what the other side does. */
  send(message: Message, outlets: DeliveryContext, signal: AbortSignal, call?: SendOptions): Promise<DeliveryResult>;
  /** Set when one URL names several receivers: each is delivered, and retried, on its own. */
  readonly parts?: readonly Destination[];
  /** Arguments of its URL that have no effect here, by name. */
  readonly ignored?: readonly string[];
  /** The Apprise library delivers to it, so nothing is while that engine is away. */
  readonly engine?: true;
}

/** A kind of destination: everything the service knows about one family of URL schemes. */
export interface DestinationKind {
  readonly service: string;
  /** Value of the metrics' `scheme` label. */
  readonly label: string;
  /** Schemes for plain connections; in-process kinds have only these. */
  readonly protocols: readonly string[];
  /** Schemes for TLS. */
  readonly secureProtocols: readonly string[];
  /** URL forms for the catalogue, in the peer's notation. */
  readonly templates: readonly string[];
  /** Arguments it knows besides the common ones. */
  readonly args: readonly string[];
  /** Arguments that it moves to another part of its URL, so that its normal form does not have them. */
  readonly movedArguments?: readonly string[];
  /** True when files are sent along; others get the words alone. */
  readonly files?: boolean;
  /** How a person fills it in. */
  readonly form: FormDefinition;
  /** The destination, or a sentence that says what is wrong with the URL. */
  parse(url: DestinationUrl): Destination | string;
}
