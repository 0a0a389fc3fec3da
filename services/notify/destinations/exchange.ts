import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { FetchReply } from '../../contracts/outgoing.ts';
import type { DeliveryContext, DeliveryResult } from './destination.ts';
import { isHeader, secretsInHeaders, userAgent, type HttpRequest } from './http.ts';
import type { CommonOptions } from './options.ts';
import { createSteps, type RunOnce } from './progress.ts';
import { isSuccess, toRefusalResult } from './result.ts';

/** Thrown within a sending that ended without success; its result is what the delivery gets. */
export class DeliveryError extends Error {
  readonly result: DeliveryResult;

  constructor(result: DeliveryResult) {
    super(result.detail);
    this.result = result;
  }
}

/** What a sending works with: one way out to HTTP, and the rest a few need. */
export interface Exchange {
  /** Sends a request. @returns the answer, if its status is 2xx. @throws NotSent, Problem. */
  readonly request: (request: HttpRequest) => Promise<FetchReply>;
  /** The same for what is nothing to the notice, such as a sign-out: that it fails makes no difference. */
  readonly tryRequest: (request: HttpRequest) => Promise<void>;
  /** A step that is not repeated once it was confirmed, for what takes several requests that people see. */
  readonly once: RunOnce;
  /** Ends the sending with a reason that the service gave in an answer of status 200. */
  readonly fail: (reason: string, retryable?: boolean) => never;
  /** A foreign text as one short line without the URL's secrets. */
  readonly redact: (text: string) => string;
  /** Text that no message holds, for the boundary of a form in parts. */
  readonly boundary: () => string;
  readonly outlets: DeliveryContext;
  readonly signal: AbortSignal;
  readonly options: CommonOptions;
}

/** Characters of a service's own words that are shown. */
const maxReasonLength = 200;

/** Opens the exchange of one sending. `secrets` are kept out of what a service says; they are asked for when it says something. */
export function openExchange(
  outlets: DeliveryContext,
  signal: AbortSignal,
  options: CommonOptions,
  { failureText, secrets }: { readonly failureText: string; readonly secrets: () => readonly string[] },
): Exchange {
  const exchange: Exchange = {
    outlets,
    signal,
    options,
    once: createSteps(undefined, ''),
    redact: (text) => redact(text, secrets()),
    boundary: () => `homeport-${outlets.random.text(24)}`,
    fail(reason, retryable = false) {
      const parsed = redact(reason, secrets());
      throw new DeliveryError({ ok: false, retryable, detail: `${failureText}. It said: ${parsed}` });
    },
    async request({ method, url, headers, body, untrusted }) {
      // Tokens come percent-encoded, so anything may be in them.
      if (!Object.entries(headers).every(([name, value]) => isHeader(name, value))) {
        throw new DeliveryError({
          ok: false,
          retryable: false,
          detail: `${failureText}: its URL holds characters that cannot be sent.`,
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
        trust: untrusted === true ? 'other' : 'owner',
      });
      if (isSuccess(reply)) return reply;
      const reason = redact(extractReason(reply), [...secrets(), ...secretsInHeaders(headers)]);
      throw new DeliveryError(toRefusalResult(reply, failureText, reason));
    },
    async tryRequest(request) {
      try {
        await exchange.request(request);
      } catch (error) {
        if (!(error instanceof DeliveryError || error instanceof Problem)) throw error;
      }
    },
  };
  return exchange;
}

const ErrorBody = z.object({
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
function extractReason(reply: FetchReply): string {
  if (reply.status < 400) return '';
  const type = reply.headers['content-type'] ?? '';
  const text = Buffer.from(reply.body.subarray(0, 16_384)).toString('utf8');
  const parsed = ErrorBody.safeParse(parseJson(text));
  if (parsed.success) {
    const { message, description, error_description, error, detail, msg, errors } = parsed.data;
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

function redact(text: string, secrets: readonly string[]): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  const hidden = secrets
    .toSorted((a, b) => b.length - a.length)
    .reduce((shown, secret) => shown.replaceAll(secret, '****'), line);
  return hidden.length > maxReasonLength ? `${[...hidden].slice(0, maxReasonLength).join('')}…` : hidden;
}

/** The JSON of an answer that fits `schema`; undefined when it is something else. */
export function readJson<T>(reply: FetchReply, schema: z.core.$ZodType<T>): T | undefined {
  const parsed = z.safeParse(schema, parseJson(Buffer.from(reply.body).toString('utf8')));
  return parsed.success ? parsed.data : undefined;
}
