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

/** Sends one fitted message; called once for each piece of a split one. @throws NotSent, Problem. */
export type Send = (message: Message, exchange: Exchange) => Promise<unknown>;

/** A URL whose parts are in order, ready to be opened. */
export interface Address {
  readonly url: DestinationUrl;
  /** `http://host[:port]` or `https://…` by the scheme; for schemes that name a host. */
  readonly origin: string;
  readonly secure: boolean;
  /** The segments after the fixed ones; exactly one, or none, where each target is a delivery of its own. */
  readonly targets: readonly string[];
  readonly options: CommonOptions;
  /** An argument that is there and not empty. */
  readonly argument: (name: string) => string | undefined;
}

/** What a file about a scheme says; all that is alike in them comes from {@link defineScheme}. */
export interface SchemeDefinition extends Omit<DestinationKind, 'parse' | 'args'> {
  readonly args?: readonly string[];
  /** Format it shows unless the URL says another; default text. */
  readonly format?: TextFormat;
  /** How it writes a format, where it has a dialect of its own; `asWritten` where it converts by itself. */
  readonly dialect?: Partial<Record<TextFormat, OutputFormat | 'asWritten'>>;
  readonly titleLimit?: number;
  readonly bodyLimit?: number;
  readonly unit?: MessageShape['unit'];
  readonly titleCounts?: true;
  /** What becomes of a longer body unless the URL says otherwise; default truncate. */
  readonly overflow?: Overflow;
  readonly heading?: MessageShape['heading'];
  /** How long its answer may take unless the URL says otherwise; default 4 s. */
  readonly readSeconds?: number;
  readonly filesOnly?: true;
  readonly handlesLink?: true;
  /** Each target is a delivery of its own, and without any there is one for them all. */
  readonly perTarget?: true;
  /** Arguments that stand for a part of the address: its host, user or password, or a segment of its path. */
  readonly partArguments?: Readonly<Record<string, 'host' | 'user' | 'password' | number>>;
  /** Moves parts that may stand in several places to the one that `open` reads. */
  readonly normalize?: (url: DestinationUrl) => DestinationUrl;
  /** How it sends, or a sentence that says what is wrong with the URL. */
  open(address: Address): Send | SchemeSender | string;
}

/** A way to send with what else is to be known of it. */
interface SchemeSender {
  readonly send: Send;
  /** Names it in results in place of the service. */
  readonly noun?: string;
  /** What each of its messages begins with takes so much of the body's limit. */
  readonly reservedLength?: number;
}

const maxTargets = 100;

/** A kind of destination from what is special about it. */
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
      ? `a host is missing: ${scheme.templates[0]?.replace('{schema}', url.scheme) ?? ''}`
      : 'its host is not valid';
  }
  if (![...url.headers].every(([name, value]) => isHeader(name, value))) return 'one of its headers is not valid';
  const { format = 'text', overflow = 'truncate', readSeconds = 4 } = scheme;
  const options = parseOptions(url, { overflow, format, readSeconds });
  if (typeof options === 'string') return options;
  const fixed = countFixedSegments(scheme.form, url);
  const targets = url.path.slice(fixed);
  if (scheme.perTarget === true && targets.length > 1) {
    if (targets.length > maxTargets) return `at most ${maxTargets} targets are served in one URL`;
    const parts = targets.map((target) =>
      buildDestination(scheme, kind, withPath(url, [...url.path.slice(0, fixed), target]), options),
    );
    const invalidPart = parts.find((part) => typeof part === 'string');
    const wholeDestination = buildDestination(scheme, kind, url, options);
    if (typeof wholeDestination === 'string' || invalidPart !== undefined)
      return typeof wholeDestination === 'string' ? wholeDestination : (invalidPart ?? '');
    return { ...wholeDestination, parts: parts.filter((part) => typeof part !== 'string') };
  }
  return buildDestination(scheme, kind, url, options);
}

/** Puts arguments in place of the parts of the address that they stand for. */
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

/** Targets stand in the path, several with commas between, and in `?to=`. */
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

/** The sending of a destination: fits the message, sends its pieces in order and turns what went wrong into a result. */
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
  const failureText = `Failed to send ${noun} notification`;
  return (message, outlets, signal, { retries = options.retry, progress } = {}) => {
    const exchange = openExchange(outlets, signal, options, { failureText, secrets });
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
