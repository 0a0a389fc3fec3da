import * as m from '#messages/notify-texts';
import type { NotifyTestResult } from '../../contracts/notify/api.ts';
import type { Fetch } from '../../contracts/outgoing.ts';
import type { Context } from '../../contracts/service.ts';
import type { Destination, DeliveryResult } from '../destinations/destination.ts';
import { runInEnglish } from '../../kit/language.ts';
import { secretsInHeaders } from '../destinations/http.ts';
import { listSecrets } from '../destinations/forms.ts';
import type { Message } from '../domain/message.ts';
import { deliveryIds, type Entry } from '../keys/read-key.ts';
import type { HealthStore } from '../store/health.ts';
import type { NotificationStore } from '../store/notifications.ts';

/** Maximum number of characters of the response that are shown. */
const maxResponseLength = 500;
/** Timeout of a test; its caller waits for the result. */
const timeoutMs = 20_000;

/** Sends a test directly to one destination, records it in the history and returns the response. */
export async function testSend(
  context: Context,
  { health, notifications }: { readonly health: HealthStore; readonly notifications: NotificationStore },
  key: string,
  entry: Entry,
): Promise<NotifyTestResult> {
  const { clock, commit, random } = context;
  const started = clock.now();
  // The history and the destinations show it to other readers, too.
  const message = await context.inHostLanguage(() => buildTest(random.text(20), key, started));
  const receivers = entry.destination.parts ?? [entry.destination];
  const response: TestResponse = { status: null, text: '', credentials: [] };
  const outlets = { ...context, fetch: recordResponses(context.fetch, response) };
  const results: DeliveryResult[] = [];
  for (const part of receivers) {
    const signal = AbortSignal.timeout(timeoutMs);
    // The history shows failures of the same kind together, so their details are in one language.
    results.push(await runInEnglish(() => part.send(message, outlets, signal, { retries: 0 })));
    if (results.at(-1)?.ok === false) break;
  }
  const durationMs = Math.round(clock.now() - started);
  const secrets = [...listSecrets(entry.typedUrl), ...response.credentials];
  const details = results.map(({ detail }) => maskSecrets(detail, secrets));
  const codes = results.map((result): NotifyTestResult['code'] => (result.ok ? '' : (result.code ?? '')));
  const outcomes = results.map(({ ok }, index) => {
    const row = buildRow(receivers[index] ?? entry.destination, deliveryIds(entry)[index] ?? entry.id);
    return {
      row,
      state: ok ? ('done' as const) : ('dead' as const),
      detail: details[index] ?? '',
      code: codes[index] ?? '',
    };
  });
  await commit(async (transaction) => {
    const rows = outcomes.map(({ row }) => row);
    await notifications.add(transaction, key, message, rows);
    for (const { row, state, detail, code } of outcomes) {
      await notifications.recordAttempt(
        transaction,
        message.id,
        row.destinationId,
        { state, attempts: 1, detail, code },
        clock.now(),
      );
    }
  });
  for (const { row, state, detail, code } of outcomes) health.record(row.destinationId, state, detail, code);
  return {
    line: entry.line,
    url: entry.destination.url(true),
    ok: results.every(({ ok }) => ok),
    status: response.status,
    detail: details.at(-1) ?? '',
    code: codes.at(-1) ?? '',
    words: maskSecrets(response.text, secrets),
    durationMs,
  };
}

function buildTest(id: string, key: string, time: number): Message {
  const content = { id, title: m.testTitle(), body: m.testBody({ key }), link: undefined, time };
  return { ...content, type: 'info', format: 'text', tags: [], source: 'notify' };
}

interface TestResponse {
  status: number | null;
  text: string;
  /** Credentials in the headers of the requests. */
  readonly credentials: string[];
}

/** Wraps `fetch` and records the last response. */
function recordResponses(fetch: Fetch, response: TestResponse): Fetch {
  return async (url, options) => {
    response.credentials.push(...secretsInHeaders(options?.headers ?? {}));
    const reply = await fetch(url, options);
    response.status = reply.status;
    // Keeps more than is shown, so that a secret at the end is masked before the text is cut.
    response.text = new TextDecoder()
      .decode(reply.body.subarray(0, maxResponseLength * 16))
      .replace(/[^\P{Cc}\n\t]/gu, '');
    return reply;
  };
}

function maskSecrets(text: string, secrets: readonly string[]): string {
  const maskedText = secrets
    .toSorted((a, b) => b.length - a.length)
    .reduce((masked, secret) => masked.replaceAll(secret, '****'), text);
  return maskedText.length > maxResponseLength ? `${maskedText.slice(0, maxResponseLength)}…` : maskedText.trim();
}

/** The test is already sent, so its URL is not stored. */
function buildRow(destination: Destination, destinationId: string) {
  const { service, optional } = destination;
  return { destinationId, service, sealedUrl: '', shownUrl: destination.url(true), optional };
}
