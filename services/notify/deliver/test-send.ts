import type { NotifyTestResult } from '../../contracts/notify/api.ts';
import type { Fetch } from '../../contracts/outgoing.ts';
import type { Context } from '../../contracts/service.ts';
import type { Destination, Result } from '../destinations/destination.ts';
import { secretsInHeaders } from '../destinations/http.ts';
import { secretsOf } from '../destinations/forms.ts';
import type { Message } from '../domain/message.ts';
import { deliveryIds, type Entry } from '../keys/read-key.ts';
import type { HealthStore } from '../store/health.ts';
import type { NoticeStore } from '../store/notifications.ts';

/** Characters of an answer that are shown. */
const mostWords = 500;
/** A person waits for the answer. */
const patienceMs = 20_000;

/** Sends a test to one destination at once, past the outbox, notes it in the history and answers what was said. */
export async function testSend(
  context: Context,
  { health, notices }: { readonly health: HealthStore; readonly notices: NoticeStore },
  key: string,
  entry: Entry,
): Promise<NotifyTestResult> {
  const { clock, commit, random } = context;
  const started = clock.now();
  const message: Message = {
    ...{ id: random.text(20), title: 'Test from Homeport', body: `This came through the key ${key}.`, type: 'info' },
    ...{ format: 'text', tags: [], link: undefined, source: 'notify', time: started },
  };
  const parts = entry.destination.parts ?? [entry.destination];
  const said: Said = { status: null, words: '', sent: [] };
  const outlets = { ...context, fetch: listening(context.fetch, said) };
  const results: Result[] = [];
  for (const part of parts) {
    const signal = AbortSignal.timeout(patienceMs);
    results.push(await part.send(message, outlets, signal, { retries: 0 }));
    if (results.at(-1)?.ok === false) break;
  }
  const durationMs = Math.round(clock.now() - started);
  const secrets = [...secretsOf(entry.typed), ...said.sent];
  const details = results.map(({ detail }) => masked(detail, secrets));
  const outcomes = results.map(({ ok }, index) => {
    const row = rowOf(parts[index] ?? entry.destination, deliveryIds(entry)[index] ?? entry.id);
    return { row, state: ok ? ('done' as const) : ('dead' as const), detail: details[index] ?? '' };
  });
  await commit(async (transaction) => {
    const rows = outcomes.map(({ row }) => row);
    await notices.add(transaction, key, message, rows);
    for (const { row, state, detail } of outcomes) {
      await notices.note(transaction, message.id, row.destinationId, { state, attempts: 1, detail }, clock.now());
    }
  });
  for (const { row, state, detail } of outcomes) health.note(row.destinationId, state, detail);
  return {
    ...{ line: entry.line, url: entry.destination.url(true), ok: results.every(({ ok }) => ok) },
    ...{ status: said.status, detail: details.at(-1) ?? '', words: masked(said.words, secrets), durationMs },
  };
}

interface Said {
  status: number | null;
  words: string;
  /** Credentials as the requests held them. */
  readonly sent: string[];
}

/** The same way out, with the last answer noted. */
function listening(fetch: Fetch, said: Said): Fetch {
  return async (url, options) => {
    said.sent.push(...secretsInHeaders(options?.headers ?? {}));
    const reply = await fetch(url, options);
    said.status = reply.status;
    // More than is shown: a secret must not escape its mask because the text ends within it.
    said.words = new TextDecoder().decode(reply.body.subarray(0, mostWords * 16)).replace(/[^\P{Cc}\n\t]/gu, '');
    return reply;
  };
}

function masked(text: string, secrets: readonly string[]): string {
  const hidden = secrets
    .toSorted((a, b) => b.length - a.length)
    .reduce((shown, secret) => shown.replaceAll(secret, '****'), text);
  return hidden.length > mostWords ? `${hidden.slice(0, mostWords)}…` : hidden.trim();
}

/** It was sent already, so its URL is not kept. */
function rowOf(destination: Destination, destinationId: string) {
  const { service, optional } = destination;
  return { destinationId, service, sealedUrl: '', shownUrl: destination.url(true), optional };
}
