import type { NotifyFailureCode } from '../../contracts/notify/statistics.ts';
import type { Handovers } from '../../contracts/bus.ts';
import type { Connect, Fetch } from '../../contracts/outgoing.ts';
import type { Clock, Random } from '../../contracts/service.ts';
import type { Message } from '../domain/message.ts';
import type { Progress } from './progress.ts';
import type { FormDefinition } from './form-definition.ts';
import type { DestinationUrl } from './url.ts';

/** Network access and other capabilities that a destination may use. */
export interface DeliveryContext {
  readonly fetch: Fetch;
  /** Opens connections of protocols other than HTTP, except to Homeport's own listeners. */
  readonly connect?: Connect;
  readonly handovers: Handovers;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly random: Random;
}

/** Result of an attempt. `detail` is a sentence for the owner and contains no secret. */
export type DeliveryResult =
  | { readonly ok: true; readonly detail: string }
  | {
      readonly ok: false;
      /** Code of a failure that is handled specially. */
      readonly code?: NotifyFailureCode;
      /** False for final failures. */
      readonly retryable: boolean;
      /** Minimum delay before the next attempt, in ms. */
      readonly retryAfterMs?: number;
      /** Number of the last attempt, for failures that continue until someone changes the configuration. */
      readonly lastAttempt?: number;
      /** HTTP status of the response, if there was one. */
      readonly status?: number;
      readonly detail: string;
    };

/** Options of one delivery. */
export interface SendOptions {
  /** Retries after the first attempt; overrides the value of the URL. */
  readonly retries?: number | undefined;
  /** Progress of previous attempts. */
  readonly progress?: Progress | undefined;
}

/** Destination of notifications, created from its URL. It has no state and no connection. */
export interface Destination {
  /** Name of the service as Apprise shows it, e.g. `JSON`. */
  readonly service: string;
  /** A failure at this destination does not make the call fail. */
  readonly optional: boolean;
  /** True replaces short codes such as `:rocket:` by emojis; undefined: as in the settings. */
  readonly emojis?: boolean | undefined;
  /** Returns the URL in its normal form; `masked` hides passwords, tokens and header values. */
  url(masked: boolean): string;
  /**
   * Fits the message to the limits of the destination and sends it. Failures of the destination are returned, not
   * thrown.
   */
  send(message: Message, outlets: DeliveryContext, signal: AbortSignal, call?: SendOptions): Promise<DeliveryResult>;
  /** Receivers of a URL with several; each has its own deliveries and retries. */
  readonly parts?: readonly Destination[];
  /** Names of the URL's arguments that have no effect in Homeport. */
  readonly ignored?: readonly string[];
  /** The Apprise library delivers to it, so deliveries wait while the engine is missing. */
  readonly engine?: true;
}

/** Kind of destination: all properties of one family of URL schemes. */
export interface DestinationKind {
  readonly service: string;
  /** Value of the `scheme` label in the metrics. */
  readonly label: string;
  /** Schemes without TLS; in-process kinds have only these. */
  readonly protocols: readonly string[];
  /** Schemes with TLS. */
  readonly secureProtocols: readonly string[];
  /** URL templates for the catalogue, in the notation of Apprise. */
  readonly templates: readonly string[];
  /** Supported arguments in addition to the common ones. */
  readonly args: readonly string[];
  /** Arguments that are moved to another part of the URL, so that its normal form does not contain them. */
  readonly movedArguments?: readonly string[];
  /** True if files are sent; otherwise only the text is sent. */
  readonly files?: boolean;
  /** Definition of the form with which an account edits the URL. */
  readonly form: FormDefinition;
  /** Returns the destination, or a sentence that explains why the URL is invalid. */
  parse(url: DestinationUrl): Destination | string;
}
