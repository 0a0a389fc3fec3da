import { z } from 'zod';
import type { Destination, Result } from '../destinations/destination.ts';
import { parseOptions, type CommonOptions } from '../destinations/options.ts';
import { repeated } from '../destinations/retry.ts';
import { parseDestinationUrl } from '../destinations/url.ts';
import type { Message } from '../domain/message.ts';
import { ChildGone } from './child.ts';
import { EngineMissing, type Library } from './library.ts';

/** What the library says about a URL that it takes. */
export interface Described {
  readonly service: string;
  /** Its normal form, with its secrets. */
  readonly url: string;
  readonly masked: string;
  readonly optional: boolean;
}

const Sent = z.object({
  ok: z.boolean(),
  /** It does not take this URL any more. */
  final: z.boolean().optional(),
  log: z.array(z.tuple([z.string(), z.string()])),
});

/** Shorter than an attempt of the outbox, so that the reason is ours. */
const sendMs = 50_000;
/** A further try within an attempt begins only while there is so much left of it. */
const furtherMs = 15_000;

/** A destination that the Apprise library delivers to. */
export function engineDestination({ service, url, masked, optional }: Described, library: Library): Destination {
  const { emojis, retry, wait } = commonOf(url);
  return {
    service,
    optional,
    engine: true,
    url: (hidden) => (hidden ? masked : url),
    emojis,
    send(message, outlets, signal, { retries = retry } = {}) {
      const failed = `Failed to send ${service} notification`;
      const limited = AbortSignal.any([signal, AbortSignal.timeout(sendMs)]);
      const job = { op: 'send', url, ...contentOf(message) };
      const attempt = async (): Promise<Result> => {
        try {
          const sent = await library.use((child, stop) => child.ask(job, Sent, stop), limited);
          return sent.ok ? { ok: true, detail: `Sent ${service} notification.` } : refusal(failed, sent);
        } catch (error) {
          return { ok: false, retryable: true, detail: `${failed}: ${reasonOf(error, limited)}` };
        }
      };
      return repeated(attempt, { retries, waitMs: wait * 1000, timeoutMs: furtherMs }, outlets.clock, limited);
    },
  };
}

/** What its arguments say that is ours to do. */
function commonOf(url: string): Pick<CommonOptions, 'emojis' | 'retry' | 'wait'> {
  const read = parseDestinationUrl(url);
  // The library has formats of its own, which are not for us to judge.
  const options = read === undefined ? '' : parseOptions({ ...read, query: new Map([...read.query].filter(isOurs)) });
  return typeof options === 'string' ? { emojis: undefined, retry: 0, wait: 0 } : options;
}

function isOurs([name]: readonly [name: string, value: string]): boolean {
  return name === 'emojis' || name === 'retry' || name === 'wait';
}

function contentOf({ title, body, type, format, attachments = [] }: Message) {
  const attach = attachments.flatMap((file) => (file.path === undefined ? [] : [{ ...file, path: file.path }]));
  return {
    title,
    body,
    type,
    format,
    attach: attach.map(({ path, name, type: media }) => ({ path, name, type: media })),
  };
}

/** Its own words are all that it gives: the status of an answer stands among them. */
function refusal(failed: string, { log, final }: z.infer<typeof Sent>): Result {
  const complaints = log.filter(([level]) => level !== 'INFO').map(([, text]) => text);
  const last = complaints.find((text) => /error[= ]\d{3}/i.test(text)) ?? complaints.at(-1) ?? '';
  const status = Number(/error[= ](\d{3})\b/i.exec(last)?.[1]);
  const isFinal = status >= 400 && status < 500 && ![408, 425, 429].includes(status);
  return {
    ok: false,
    retryable: final !== true && !isFinal,
    ...(status >= 400 && status < 600 ? { status } : {}),
    detail: `${failed}.${last === '' ? '' : ` The Apprise library said: ${last}`}`,
  };
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof EngineMissing || error instanceof ChildGone) return error.message;
  if (signal.aborted) return 'the Apprise engine did not end in time.';
  throw error;
}
