import { formatReply, formatSendFailure } from '../../contracts/notify/send-failure.ts';
import type { NotifyFailureCode } from '../../contracts/notify/statistics.ts';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { FetchReply } from '../../contracts/outgoing.ts';
import type { DeliveryContext, DeliveryResult } from './destination.ts';
import { isHeader, secretsInHeaders, userAgent, type HttpRequest } from './http.ts';
import type { CommonOptions } from './options.ts';
import { createSteps, type RunOnce } from './progress.ts';
import { isSuccess, toRefusalResult, withFailureCode } from './result.ts';
import { parseJson } from '../../contracts/parse-json.ts';

/** Thrown when a message could not be sent; contains the result of the delivery. */
export class DeliveryError extends Error {
  readonly result: DeliveryResult;

  constructor(result: DeliveryResult) {
    super(result.detail);
    this.result = result;
  }
}

/** Functions and data for sending one message. */
export interface Exchange {
  /**
   * Sends a request.
   *
   * @returns the response, if its status is 2xx.
   * @throws DeliveryError, Problem.
   */
  readonly request: (request: HttpRequest) => Promise<FetchReply>;
  /** Sends a request whose failure does not affect the notification, such as a sign-out. */
  readonly tryRequest: (request: HttpRequest) => Promise<void>;
  /**
   * Runs a step once: a confirmed step is not repeated in later attempts. Used for messages that need several
   * requests.
   */
  readonly once: RunOnce;
  /** Ends the attempt with a reason from a response of status 200. */
  readonly fail: (reason: string, retryable?: boolean, code?: NotifyFailureCode) => never;
  /** Formats text of a service as one short line without the URL's secrets. */
  readonly redact: (text: string) => string;
  /** Returns a random boundary for a multipart form. */
  readonly boundary: () => string;
  readonly outlets: DeliveryContext;
  readonly signal: AbortSignal;
  readonly options: CommonOptions;
}

/** Maximum length of a reason from a service. */
const maxReasonLength = 200;

/**
 * Opens the exchange for one message. `secrets` are removed from reasons of the service; they are computed when a
 * reason exists.
 */
export function openExchange(
  outlets: DeliveryContext,
  signal: AbortSignal,
  options: CommonOptions,
  { noun, secrets }: { readonly noun: string; readonly secrets: () => readonly string[] },
): Exchange {
  const exchange: Exchange = {
    outlets,
    signal,
    options,
    once: createSteps(undefined, ''),
    redact: (text) => redact(text, secrets()),
    boundary: () => `homeport-${outlets.random.text(24)}`,
    fail(reason, retryable = false, code) {
      const parsed = redact(reason, secrets());
      throw new DeliveryError({
        ok: false,
        retryable,
        ...withFailureCode(code),
        detail: `${formatSendFailure(noun)}.${formatReply(parsed)}`,
      });
    },
    async request({ method, url, headers, body, untrusted }) {
      // Tokens are percent-encoded in URLs, so they may contain any character.
      if (!Object.entries(headers).every(([name, value]) => isHeader(name, value))) {
        throw new DeliveryError({
          ok: false,
          retryable: false,
          code: 'invalid_address',
          detail: `${formatSendFailure(noun)}: its URL holds characters that cannot be sent.`,
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
      throw new DeliveryError(toRefusalResult(reply, noun, reason));
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

/** Extracts the reason from an error response; empty if it contains no readable text. */
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

function redact(text: string, secrets: readonly string[]): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  const hidden = secrets
    .toSorted((a, b) => b.length - a.length)
    .reduce((redacted, secret) => redacted.replaceAll(secret, '****'), line);
  return hidden.length > maxReasonLength ? `${[...hidden].slice(0, maxReasonLength).join('')}…` : hidden;
}

/** Parses the JSON of a response. Returns undefined if it does not match the schema. */
export function readJson<T>(reply: FetchReply, schema: z.core.$ZodType<T>): T | undefined {
  const parsed = z.safeParse(schema, parseJson(Buffer.from(reply.body).toString('utf8')));
  return parsed.success ? parsed.data : undefined;
}
