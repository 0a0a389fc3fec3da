import type { Context } from '../../contracts/service.ts';
import type { DetailLine } from '../domain/response-format.ts';

/** Result of a call in the format of Apprise API: status 0 for success, 1 for failure. */
export interface CallResult {
  readonly source: string;
  readonly status: 0 | 1;
  readonly output: readonly DetailLine[];
}

/**
 * Posts the result of a call to the address in the settings, if any. Nothing waits for the request; a failure is
 * logged.
 */
export function sendResultWebhook(
  { fetch, log }: Pick<Context, 'fetch' | 'log'>,
  url: string,
  result: CallResult,
): void {
  if (url === '') return;
  const headers = { 'content-type': 'application/json' };
  fetch(url, { method: 'POST', headers, body: JSON.stringify(result), trust: 'owner' }).then(
    ({ status }) => {
      if (status >= 300) log.warn('result webhook rejected', { status });
    },
    (error: unknown) => log.warn('result webhook failed', { error }),
  );
}
