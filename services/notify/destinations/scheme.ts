import type { TextFormat } from '../../contracts/notify/notification.ts';
import { fitMessage, type Overflow, type Shape } from '../domain/fit-message.ts';
import type { Message } from '../domain/message.ts';
import type { Shown } from '../domain/text/convert.ts';
import type { Destination, DestinationKind, Result } from './destination.ts';
import { NotSent, openExchange, type Exchange } from './exchange.ts';
import { fixedSegments } from './form-definition.ts';
import { isHeader } from './http.ts';
import { normalForm } from './normal-form.ts';
import { parseOptions, type CommonOptions } from './options.ts';
import { targetsIn, secretsIn, withPath } from './url-fields.ts';
import { stepsOf } from './progress.ts';
import { repeated } from './retry.ts';
import { toldFor, type Places } from './message-fallbacks.ts';
import { resultOfError } from './result.ts';
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
export interface Scheme extends Omit<DestinationKind, 'parse' | 'args'> {
  readonly args?: readonly string[];
  /** Format it shows unless the URL says another; default text. */
  readonly format?: TextFormat;
  /** How it writes a format, where it has a dialect of its own; `asWritten` where it converts by itself. */
  readonly dialect?: Partial<Record<TextFormat, Shown | 'asWritten'>>;
  readonly titleLimit?: number;
  readonly bodyLimit?: number;
  readonly unit?: Shape['unit'];
  readonly titleCounts?: true;
  /** What becomes of a longer body unless the URL says otherwise; default truncate. */
  readonly overflow?: Overflow;
  readonly heading?: Shape['heading'];
  /** How long its answer may take unless the URL says otherwise; default 4 s. */
  readonly readSeconds?: number;
  readonly wordless?: true;
  readonly ownLink?: true;
  /** Each target is a delivery of its own, and without any there is one for them all. */
  readonly each?: true;
  /** Arguments that stand for a part of the address: its host, user or password, or a segment of its path. */
  readonly partArguments?: Readonly<Record<string, 'host' | 'user' | 'password' | number>>;
  /** Moves parts that may stand in several places to the one that `open` reads. */
  readonly arrange?: (url: DestinationUrl) => DestinationUrl;
  /** How it sends, or a sentence that says what is wrong with the URL. */
  open(address: Address): Send | Opened | string;
}

/** A way to send with what else is to be known of it. */
interface Opened {
  readonly send: Send;
  /** Names it in results in place of the service. */
  readonly noun?: string;
  /** What each of its messages begins with takes so much of the body's limit. */
  readonly taken?: number;
}

const mostTargets = 100;

/** A kind of destination from what is special about it. */
export function defineScheme(scheme: Scheme): DestinationKind {
  const kind: DestinationKind = {
    ...scheme,
    args: scheme.args ?? [],
    moved: [...(scheme.moved ?? []), ...Object.keys(scheme.partArguments ?? {})],
    parse: (url) => parse(scheme, kind, url),
  };
  return kind;
}

function parse(scheme: Scheme, kind: DestinationKind, given: DestinationUrl): Destination | string {
  const whole = withParts(given, scheme.partArguments);
  const url = withTargets(scheme.arrange?.(whole) ?? whole, kind);
  const hosted = scheme.form.fields.some(({ at, kind: shown }) => at === 'host' && shown !== 'secret');
  const sound =
    /^(\[[0-9a-f:.%]+\]|[^\s/?#@:[\]\\<>^|%]+)$/i.test(url.host) && URL.canParse(`http://${hostAndPort(url)}`);
  if (hosted && !sound) {
    return url.host === ''
      ? `a host is missing: ${scheme.templates[0]?.replace('{schema}', url.scheme) ?? ''}`
      : 'its host is not valid';
  }
  if (![...url.headers].every(([name, value]) => isHeader(name, value))) return 'one of its headers is not valid';
  const { format = 'text', overflow = 'truncate', readSeconds = 4 } = scheme;
  const options = parseOptions(url, { overflow, format, readSeconds });
  if (typeof options === 'string') return options;
  const fixed = fixedSegments(scheme.form, url);
  const targets = url.path.slice(fixed);
  if (scheme.each === true && targets.length > 1) {
    if (targets.length > mostTargets) return `at most ${mostTargets} targets are served in one URL`;
    const parts = targets.map((target) =>
      make(scheme, kind, withPath(url, [...url.path.slice(0, fixed), target]), options),
    );
    const wrong = parts.find((part) => typeof part === 'string');
    const whole = make(scheme, kind, url, options);
    if (typeof whole === 'string' || wrong !== undefined) return typeof whole === 'string' ? whole : (wrong ?? '');
    return { ...whole, parts: parts.filter((part) => typeof part !== 'string') };
  }
  return make(scheme, kind, url, options);
}

/** Puts arguments in place of the parts of the address that they stand for. */
function withParts(url: DestinationUrl, parts: Scheme['partArguments'] = {}): DestinationUrl {
  if (!Object.keys(parts).some((name) => url.query.has(name))) return url;
  const query = new Map(url.query);
  const path = [...url.path];
  let changed = url;
  for (const [name, part] of Object.entries(parts)) {
    const value = query.get(name)?.trim();
    query.delete(name);
    if (value === undefined || value === '') continue;
    if (typeof part === 'number') path[Math.min(part, path.length)] = value;
    else changed = { ...changed, [part]: value, ...(part === 'host' ? { port: undefined } : {}) };
  }
  return withPath({ ...changed, query }, path);
}

/** Targets stand in the path, several with commas between, and in `?to=`. */
function withTargets(url: DestinationUrl, kind: DestinationKind): DestinationUrl {
  if (!kind.form.fields.some(({ at }) => at === 'targets')) return url;
  const fixed = fixedSegments(kind.form, url);
  const named = url.path.slice(fixed);
  const to = url.query.get('to');
  if (to === undefined && !named.some((each) => each.includes(','))) return url;
  const query = new Map(url.query);
  query.delete('to');
  return withPath({ ...url, query }, [...url.path.slice(0, fixed), ...targetsIn(named, to)]);
}

function make(
  scheme: Scheme,
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
    targets: url.path.slice(fixedSegments(scheme.form, url)),
    options,
    argument,
  });
  if (typeof opened === 'string') return opened;
  const { send, noun = scheme.service, taken = 0 }: Opened = typeof opened === 'function' ? { send: opened } : opened;
  const shown = scheme.dialect?.[options.format] ?? options.format;
  const shape: Shape = {
    format: shown === 'asWritten' ? undefined : shown,
    titleLimit: scheme.titleLimit,
    bodyLimit: scheme.bodyLimit === undefined ? undefined : Math.max(1, scheme.bodyLimit - taken),
    unit: scheme.unit,
    titleCounts: scheme.titleCounts,
    overflow: options.overflow,
    ...(scheme.heading === undefined ? {} : { heading: scheme.heading }),
  };
  return {
    service: scheme.service,
    optional: options.optional,
    emojis: options.emojis,
    url: (masked) => normalForm(kind, url, options, masked),
    send: sendFitted({ noun, shape, options, places: scheme, secrets: () => secretsIn(url, kind), send }),
  };
}

/** The sending of a destination: fits the message, sends its pieces in order and turns what went wrong into a result. */
export function sendFitted({
  noun,
  shape,
  options,
  places,
  secrets,
  send,
}: {
  readonly noun: string;
  readonly shape: Shape;
  readonly places: Places;
  readonly options: CommonOptions;
  readonly secrets: () => readonly string[];
  readonly send: Send;
}): Destination['send'] {
  const notSent = `Failed to send ${noun} notification`;
  return (message, outlets, signal, { retries = options.retry, progress } = {}) => {
    const exchange = openExchange(outlets, signal, options, { notSent, secrets });
    const attempt = async (): Promise<Result> => {
      try {
        const whole = stepsOf(progress, 'piece');
        for (const [at, piece] of fitMessage(toldFor(message, places), shape).entries()) {
          await whole(String(at), () => send(piece, { ...exchange, once: stepsOf(progress, String(at)) }));
        }
        return { ok: true, detail: `Sent ${noun} notification.` };
      } catch (error) {
        await progress?.save();
        return error instanceof NotSent ? error.result : resultOfError(error, notSent);
      }
    };
    const { timeoutMs, wait } = options;
    return repeated(attempt, { retries, waitMs: wait * 1000, timeoutMs }, outlets.clock, signal);
  };
}
