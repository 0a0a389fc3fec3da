import { formatReply, formatSendFailure } from '../../contracts/notify/send-failure.ts';
import { z } from 'zod';
import type { Destination, DeliveryResult } from '../destinations/destination.ts';
import { parseOptions, type CommonOptions } from '../destinations/options.ts';
import { withRetries } from '../destinations/retry.ts';
import { parseDestinationUrl } from '../destinations/url.ts';
import type { Message } from '../domain/message.ts';
import { LibraryProcessError } from './child.ts';
import { EngineUnavailableError, type Library } from './library.ts';

/** Description of a URL that the library accepts. */
export interface DestinationDescription {
  readonly service: string;
  /** Normal form, with secrets. */
  readonly url: string;
  readonly masked: string;
  readonly optional: boolean;
}

const SendReply = z.object({
  ok: z.boolean(),
  /** The library no longer accepts the URL. */
  final: z.boolean().optional(),
  log: z.array(z.tuple([z.string(), z.string()])),
});

/** Shorter than the time limit of a job, so that the failure has a reason. */
const sendTimeoutMs = 50_000;
/** Minimum remaining time for a retry within an attempt. */
const minRetryTimeMs = 15_000;

/** Creates a destination that the Apprise library delivers to. */
export function engineDestination(
  { service, url, masked, optional }: DestinationDescription,
  library: Library,
): Destination {
  const { emojis, retry, wait } = parseCommonOptions(url);
  return {
    service,
    optional,
    engine: true,
    url: (hidden) => (hidden ? masked : url),
    emojis,
    send(message, outlets, signal, { retries = retry } = {}) {
      const failureText = formatSendFailure(service);
      const limitedSignal = AbortSignal.any([signal, AbortSignal.timeout(sendTimeoutMs)]);
      const attempt = async (): Promise<DeliveryResult> => {
        await using files = await openFiles(message);
        const command = { op: 'send', url, ...buildContent(message, files.list) };
        try {
          const reply = await library.run((child, stop) => child.request(command, SendReply, stop), limitedSignal);
          return reply.ok ? { ok: true, detail: `Sent ${service} notification.` } : toFailure(failureText, reply);
        } catch (error) {
          const detail = `${failureText}: ${explainError(error, limitedSignal)}`;
          const isMissing = error instanceof EngineUnavailableError && error.isMissing;
          return { ok: false, retryable: true, detail, code: isMissing ? 'needs_engine' : 'engine_failed' };
        }
      };
      return withRetries(
        attempt,
        { retries, waitMs: wait * 1000, timeoutMs: minRetryTimeMs },
        outlets.clock,
        limitedSignal,
      );
    },
  };
}

/** Parses the arguments that Homeport handles itself. */
function parseCommonOptions(url: string): Pick<CommonOptions, 'emojis' | 'retry' | 'wait'> {
  const typedUrl = parseDestinationUrl(url);
  // The library has additional formats, which Homeport does not validate.
  const options =
    typedUrl === undefined
      ? ''
      : parseOptions({ ...typedUrl, query: new Map([...typedUrl.query].filter(isCommonArgument)) });
  return typeof options === 'string' ? { emojis: undefined, retry: 0, wait: 0 } : options;
}

function isCommonArgument([name]: readonly [name: string, value: string]): boolean {
  return name === 'emojis' || name === 'retry' || name === 'wait';
}

/** File for the library, which reads it from its path. */
interface OpenedFile {
  readonly path: string;
  readonly name: string;
  readonly type: string;
}

/** Opens the files of a message until the disposal. */
async function openFiles({
  attachments = [],
}: Message): Promise<AsyncDisposable & { readonly list: readonly OpenedFile[] }> {
  await using opening = new AsyncDisposableStack();
  const list: OpenedFile[] = [];
  for (const { openFile, name, type } of attachments) {
    const file = await openFile?.();
    if (file !== undefined) list.push({ path: opening.use(file).path, name, type });
  }
  const opened = opening.move();
  return { list, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

function buildContent({ title, body, type, format }: Message, attach: readonly OpenedFile[]) {
  return { title, body, type, format, attach };
}

/** Converts a failure of the library. It reports only log texts, which contain the HTTP status. */
function toFailure(failureText: string, { log, final }: z.infer<typeof SendReply>): DeliveryResult {
  const messages = log.filter(([level]) => level !== 'INFO').map(([, text]) => text);
  const lastMessage = messages.find((text) => /error[= ]\d{3}/i.test(text)) ?? messages.at(-1) ?? '';
  const status = Number(/error[= ](\d{3})\b/i.exec(lastMessage)?.[1]);
  const isFinal = status >= 400 && status < 500 && ![408, 425, 429].includes(status);
  return {
    ok: false,
    retryable: final !== true && !isFinal,
    ...(status >= 400 && status < 600 ? { status } : {}),
    detail: `${failureText}.${formatReply(lastMessage, 'The Apprise library')}`,
  };
}

function explainError(error: unknown, signal: AbortSignal): string {
  if (error instanceof EngineUnavailableError || error instanceof LibraryProcessError) return error.message;
  if (signal.aborted) return 'the Apprise engine did not end in time.';
  throw error;
}
