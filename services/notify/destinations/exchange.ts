import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { FetchReply } from '../../contracts/outgoing.ts';
import type { Outlets, Result } from './destination.ts';
import { isHeader, secretsInHeaders, userAgent, type HttpRequest } from './http.ts';
import type { CommonOptions } from './options.ts';
import { stepsOf, type Once } from './progress.ts';
import { isSuccess, resultOfRefusal } from './result.ts';

/** Thrown within a sending that ended without success; its result is what the delivery gets. */
export class NotSent extends Error {
  readonly result: Result;

  constructor(result: Result) {
    super(result.detail);
    this.result = result;
  }
}

/** What a sending works with: one way out to HTTP, and the rest a few need. */
export interface Exchange {
  /** Sends a request. @returns the answer, if its status is 2xx. @throws NotSent, Problem. */
  readonly ask: (request: HttpRequest) => Promise<FetchReply>;
  /** The same for what is nothing to the notice, such as a sign-out: that it fails makes no difference. */
  readonly askLightly: (request: HttpRequest) => Promise<void>;
  /** A step that is not repeated once it was confirmed, for what takes several requests that people see. */
  readonly once: Once;
  /** Ends the sending with a reason that the service gave in an answer of status 200. */
  readonly fail: (reason: string, retryable?: boolean) => never;
  /** A foreign text as one short line without the URL's secrets. */
  readonly hide: (text: string) => string;
  /** Text that no message holds, for the boundary of a form in parts. */
  readonly boundary: () => string;
  readonly outlets: Outlets;
  readonly signal: AbortSignal;
  readonly options: CommonOptions;
}

/** Characters of a service's own words that are shown. */
const mostWords = 200;

/** Opens the exchange of one sending. `secrets` are kept out of what a service says; they are asked for when it says something. */
export function openExchange(
  outlets: Outlets,
  signal: AbortSignal,
  options: CommonOptions,
  { notSent, secrets }: { readonly notSent: string; readonly secrets: () => readonly string[] },
): Exchange {
  const exchange: Exchange = {
    outlets,
    signal,
    options,
    once: stepsOf(undefined, ''),
    hide: (text) => hide(text, secrets()),
    boundary: () => `homeport-${outlets.random.text(24)}`,
    fail(reason, retryable = false) {
      const said = hide(reason, secrets());
      throw new NotSent({ ok: false, retryable, detail: `${notSent}. It said: ${said}` });
    },
    async ask({ method, url, headers, body, foreign }) {
      // Tokens come percent-encoded, so anything may be in them.
      if (!Object.entries(headers).every(([name, value]) => isHeader(name, value))) {
        throw new NotSent({
          ok: false,
          retryable: false,
          detail: `${notSent}: its URL holds characters that cannot be sent.`,
        });
      }
      const reply = await outlets.fetch(url, {
        method,
        headers: { 'user-agent': userAgent, ...headers },
        ...(body === undefined ? {} : { body }),
        signal,
        timeoutMs: options.timeoutMs,
        maxRedirects: options.redirect ? 5 : 0,
        keepMethod: true,
        verify: options.verify,
        trust: foreign === true ? 'other' : 'owner',
      });
      if (isSuccess(reply)) return reply;
      const reason = hide(reasonOf(reply), [...secrets(), ...secretsInHeaders(headers)]);
      throw new NotSent(resultOfRefusal(reply, notSent, reason));
    },
    async askLightly(request) {
      try {
        await exchange.ask(request);
      } catch (error) {
        if (!(error instanceof NotSent || error instanceof Problem)) throw error;
      }
    },
  };
  return exchange;
}

const Said = z.object({
  message: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  error_description: z.string().optional().catch(undefined),
  error: z
    .union([z.string(), z.object({ message: z.string() }).transform(({ message }) => message)])
    .optional()
    .catch(undefined),
  detail: z.string().optional().catch(undefined),
  msg: z.string().optional().catch(undefined),
  errors: z
    .array(z.union([z.string(), z.object({ message: z.string() }).transform(({ message }) => message)]))
    .optional()
    .catch(undefined),
});

/** The words a service explains a refusal with; empty when it gave none a person can read. */
function reasonOf(reply: FetchReply): string {
  if (reply.status < 400) return '';
  const type = reply.headers['content-type'] ?? '';
  const text = Buffer.from(reply.body.subarray(0, 16_384)).toString('utf8');
  const said = Said.safeParse(parseJson(text));
  if (said.success) {
    const { message, description, error_description, error, detail, msg, errors } = said.data;
    return [error_description ?? description ?? message ?? detail ?? msg ?? error ?? '', ...(errors ?? [])]
      .filter(Boolean)
      .join('; ');
  }
  return type.startsWith('text/plain') ? text : '';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function hide(text: string, secrets: readonly string[]): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  const hidden = secrets
    .toSorted((a, b) => b.length - a.length)
    .reduce((shown, secret) => shown.replaceAll(secret, '****'), line);
  return hidden.length > mostWords ? `${[...hidden].slice(0, mostWords).join('')}…` : hidden;
}

/** The JSON of an answer that fits `schema`; undefined when it is something else. */
export function readJson<T>(reply: FetchReply, schema: z.core.$ZodType<T>): T | undefined {
  const parsed = z.safeParse(schema, parseJson(Buffer.from(reply.body).toString('utf8')));
  return parsed.success ? parsed.data : undefined;
}
