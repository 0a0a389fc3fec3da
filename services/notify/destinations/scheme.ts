import * as problems from '#messages/notify-problems';
import { formatSendFailure } from '../../contracts/notify/send-failure.ts';
import type { TextFormat } from '../../contracts/notify/notification.ts';
import { fitMessage, type Overflow, type MessageShape } from '../domain/fit-message.ts';
import type { Message } from '../domain/message.ts';
import type { OutputFormat } from '../domain/text/convert.ts';
import type { Destination, DestinationKind, DeliveryResult } from './destination.ts';
import { DeliveryError, openExchange, type Exchange } from './exchange.ts';
import { countFixedSegments } from './form-definition.ts';
import { isHeader } from './http.ts';
import { buildNormalUrl } from './normal-form.ts';
import { parseOptions, type CommonOptions } from './options.ts';
import { splitTargets, secretsIn, withPath } from './url-fields.ts';
import { createSteps } from './progress.ts';
import { withRetries } from './retry.ts';
import { addFallbacks, type MessageCapabilities } from './message-fallbacks.ts';
import { toErrorResult } from './result.ts';
import { hostAndPort, type DestinationUrl } from './url.ts';

/**
 * Sends one fitted message; called once for each piece of a split one.
 *
 * @throws DeliveryError, Problem.
 */
export type Send = (message: Message, exchange: Exchange) => Promise<unknown>;

/** Normalized URL with its parsed parts. */
export interface Address {
  readonly url: DestinationUrl;
  /** `http://host[:port]` or `https://…`, for schemes whose URL contains a host. */
  readonly origin: string;
  readonly secure: boolean;
  /** Segments after the fixed ones; at most one if each target has its own delivery. */
  readonly targets: readonly string[];
  readonly options: CommonOptions;
  /** Returns an argument that is not empty. */
  readonly argument: (name: string) => string | undefined;
}

/** Definition of a scheme; {@link defineScheme} adds the shared behavior. */
export interface SchemeDefinition extends Omit<DestinationKind, 'parse' | 'args'> {
  readonly args?: readonly string[];
  /** Default format; text if unset. */
  readonly format?: TextFormat;
  /** Dialects for formats; `asWritten` if the scheme converts the text itself. */
  readonly dialect?: Partial<Record<TextFormat, OutputFormat | 'asWritten'>>;
  readonly titleLimit?: number;
  readonly bodyLimit?: number;
  readonly unit?: MessageShape['unit'];
  readonly titleCounts?: true;
  /** Default for bodies that are too long; truncate if unset. */
  readonly overflow?: Overflow;
  readonly heading?: MessageShape['heading'];
  /** Default response timeout; 4 s if unset. */
  readonly readSeconds?: number;
  readonly filesOnly?: true;
  readonly handlesLink?: true;
  /** Each target has its own delivery; without targets, there is one for all of them. */
  readonly perTarget?: true;
  /** Arguments that replace a part of the address: host, user, password, or a segment of the path. */
  readonly partArguments?: Readonly<Record<string, 'host' | 'user' | 'password' | number>>;
  /** Moves parts with several possible locations to the one that `open` reads. */
  readonly normalize?: (url: DestinationUrl) => DestinationUrl;
  /** Returns a function that sends messages, or a sentence about an invalid URL. */
  open(address: Address): Send | SchemeSender | string;
}

/** Function that sends messages, with optional properties. */
interface SchemeSender {
  readonly send: Send;
  /** Name in results; default: that of the service. */
  readonly noun?: string;
  /** Length that each message needs in addition to its body. */
  readonly reservedLength?: number;
}

const maxTargets = 100;

/** Creates a destination kind from the definition of its scheme. */
export function defineScheme(scheme: SchemeDefinition): DestinationKind {
  const kind: DestinationKind = {
    ...scheme,
    args: scheme.args ?? [],
    movedArguments: [...(scheme.movedArguments ?? []), ...Object.keys(scheme.partArguments ?? {})],
    parse: (url) => parse(scheme, kind, url),
  };
  return kind;
}

function parse(scheme: SchemeDefinition, kind: DestinationKind, typed: DestinationUrl): Destination | string {
  const withPartArguments = applyPartArguments(typed, scheme.partArguments);
  const url = applyTargets(scheme.normalize?.(withPartArguments) ?? withPartArguments, kind);
  const hasHost = scheme.form.fields.some(
    ({ location, kind: fieldKind }) => location === 'host' && fieldKind !== 'secret',
  );
  const isValidHost =
    /^(\[[0-9a-f:.%]+\]|[^\s/?#@:[\]\\<>^|%]+)$/i.test(url.host) && URL.canParse(`http://${hostAndPort(url)}`);
  if (hasHost && !isValidHost) {
    return url.host === ''
      ? problems.addressIncomplete({ example: scheme.templates[0]?.replace('{schema}', url.scheme) ?? '' })
      : problems.addressHostInvalid();
  }
  if (![...url.headers].every(([name, value]) => isHeader(name, value))) return problems.headerInvalid();
  const { format = 'text', overflow = 'truncate', readSeconds = 4 } = scheme;
  const options = parseOptions(url, { overflow, format, readSeconds });
  if (typeof options === 'string') return options;
  const fixed = countFixedSegments(scheme.form, url);
  const targets = url.path.slice(fixed);
  if (scheme.perTarget === true && targets.length > 1) {
    if (targets.length > maxTargets) return problems.tooManyTargets({ limit: maxTargets });
    const receivers = targets.map((target) =>
      buildDestination(scheme, kind, withPath(url, [...url.path.slice(0, fixed), target]), options),
    );
    const invalidPart = receivers.find((part) => typeof part === 'string');
    const wholeDestination = buildDestination(scheme, kind, url, options);
    if (typeof wholeDestination === 'string' || invalidPart !== undefined)
      return typeof wholeDestination === 'string' ? wholeDestination : (invalidPart ?? '');
    return { ...wholeDestination, parts: receivers.filter((part) => typeof part !== 'string') };
  }
  return buildDestination(scheme, kind, url, options);
}

/** Replaces parts of the address by the arguments for them. */
function applyPartArguments(url: DestinationUrl, parts: SchemeDefinition['partArguments'] = {}): DestinationUrl {
  if (!Object.keys(parts).some((name) => url.query.has(name))) return url;
  const query = new Map(url.query);
  const path = [...url.path];
  let result = url;
  for (const [name, part] of Object.entries(parts)) {
    const value = query.get(name)?.trim();
    query.delete(name);
    if (value === undefined || value === '') continue;
    if (typeof part === 'number') path[Math.min(part, path.length)] = value;
    else result = { ...result, [part]: value, ...(part === 'host' ? { port: undefined } : {}) };
  }
  return withPath({ ...result, query }, path);
}

/** Moves the targets to separate path segments. They may also be separated by commas or be in `?to=`. */
function applyTargets(url: DestinationUrl, kind: DestinationKind): DestinationUrl {
  if (!kind.form.fields.some(({ location }) => location === 'targets')) return url;
  const fixed = countFixedSegments(kind.form, url);
  const named = url.path.slice(fixed);
  const to = url.query.get('to');
  if (to === undefined && !named.some((each) => each.includes(','))) return url;
  const query = new Map(url.query);
  query.delete('to');
  return withPath({ ...url, query }, [...url.path.slice(0, fixed), ...splitTargets(named, to)]);
}

function buildDestination(
  scheme: SchemeDefinition,
  kind: DestinationKind,
  url: DestinationUrl,
  options: CommonOptions,
): Destination | string {
  const secure = scheme.secureProtocols.includes(url.scheme);
  const origin = `${secure ? 'https' : 'http'}://${hostAndPort(url)}`;
  const argument = (name: string): string | undefined => (url.query.get(name) === '' ? undefined : url.query.get(name));
  const opened = scheme.open({
    url,
    origin,
    secure,
    targets: url.path.slice(countFixedSegments(scheme.form, url)),
    options,
    argument,
  });
  if (typeof opened === 'string') return opened;
  const {
    send,
    noun = scheme.service,
    reservedLength = 0,
  }: SchemeSender = typeof opened === 'function' ? { send: opened } : opened;
  const outputFormat = scheme.dialect?.[options.format] ?? options.format;
  const shape: MessageShape = {
    format: outputFormat === 'asWritten' ? undefined : outputFormat,
    titleLimit: scheme.titleLimit,
    bodyLimit: scheme.bodyLimit === undefined ? undefined : Math.max(1, scheme.bodyLimit - reservedLength),
    unit: scheme.unit,
    titleCounts: scheme.titleCounts,
    overflow: options.overflow,
    ...(scheme.heading === undefined ? {} : { heading: scheme.heading }),
  };
  return {
    service: scheme.service,
    optional: options.optional,
    emojis: options.emojis,
    url: (masked) => buildNormalUrl(kind, url, options, masked),
    send: createSend({ noun, shape, options, capabilities: scheme, secrets: () => secretsIn(url, kind), send }),
  };
}

/**
 * Creates the function that sends messages: fits the message, sends its pieces in order and converts errors to a
 * result.
 */
export function createSend({
  noun,
  shape,
  options,
  capabilities,
  secrets,
  send,
}: {
  readonly noun: string;
  readonly shape: MessageShape;
  readonly capabilities: MessageCapabilities;
  readonly options: CommonOptions;
  readonly secrets: () => readonly string[];
  readonly send: Send;
}): Destination['send'] {
  const failureText = formatSendFailure(noun);
  return (message, outlets, signal, { retries = options.retry, progress } = {}) => {
    const exchange = openExchange(outlets, signal, options, { noun, secrets });
    const attempt = async (): Promise<DeliveryResult> => {
      try {
        const wholeDestination = createSteps(progress, 'piece');
        for (const [index, piece] of fitMessage(addFallbacks(message, capabilities), shape).entries()) {
          await wholeDestination(String(index), () =>
            send(piece, { ...exchange, once: createSteps(progress, String(index)) }),
          );
        }
        return { ok: true, detail: `Sent ${noun} notification.` };
      } catch (error) {
        await progress?.save();
        return error instanceof DeliveryError ? error.result : toErrorResult(error, failureText);
      }
    };
    const { timeoutMs, wait } = options;
    return withRetries(attempt, { retries, waitMs: wait * 1000, timeoutMs }, outlets.clock, signal);
  };
}
