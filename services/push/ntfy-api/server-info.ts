import { createHash } from 'node:crypto';
import type { AppPages } from '../../contracts/app-pages.ts';
import { leadToApp } from '../../kit/lead-to-app.ts';
import { refuse } from '../domain/refusals.ts';
import type { Statistics } from '../metrics/statistics.ts';
import { answer, answerValue, crossOrigin, type Exchange } from './exchange.ts';

/** The peer's release whose API this server follows: what clients take from `/v1/version`. */
const followed = { version: '2.27.0', commit: 'homeport', date: '2026-08-04' };

export interface AboutParts {
  readonly statistics: Statistics;
  readonly reservedTopics: () => readonly string[];
  /** Whether strangers may make themselves an account. */
  readonly signUp: () => boolean;
  /** Whether messages may go out as mail. */
  readonly sendsMail: () => boolean;
  /** What browsers subscribe with; empty while web push is off. */
  readonly webPushKey: () => string;
  /** False while messages cannot be stored. */
  readonly healthy: () => boolean;
  /** Where the app's own pages are. */
  readonly pages: AppPages;
}

/** The routes that tell about the server itself, by path. All of them are GET and none asks for a topic. */
export function aboutRoutes(parts: AboutParts): ReadonlyMap<string, (exchange: Exchange) => void> {
  const health = ({ response }: Exchange): void => {
    const healthy = parts.healthy();
    answer(response, healthy ? 200 : 503, `${JSON.stringify({ healthy })}\n`);
  };

  return new Map<string, (exchange: Exchange) => void>([
    ['/health', health],
    ['/v1/health', health],
    [
      '/v1/stats',
      ({ response }) =>
        answerValue(response, { messages: parts.statistics.total, messages_rate: parts.statistics.rate }),
    ],
    [
      '/v1/info',
      ({ response }) =>
        answerValue(response, {
          name: 'Homeport push',
          api: 'ntfy',
          version: followed.version,
          healthy: parts.healthy(),
        }),
    ],
    [
      '/v1/version',
      ({ response, identity }) => {
        if (identity?.role !== 'admin') throw refuse('unauthorized');
        answerValue(response, followed);
      },
    ],
    [
      '/v1/config',
      ({ response }) => {
        response.setHeader('Cache-Control', 'no-cache');
        answerValue(response, configOf(parts));
      },
    ],
    [
      '/config.js',
      ({ response }) => {
        response.setHeader('Cache-Control', 'no-cache');
        const text = `// Generated server configuration\nvar config = ${JSON.stringify(configOf(parts), null, 2)};\n`;
        answer(response, 200, text, 'text/javascript');
      },
    ],
    ['/', (exchange) => redirectToApp(exchange, parts.pages)],
  ]);
}

/** Our pages are at the app's own address; the peer serves its web app at `/` and at `/<topic>`. */
export function redirectToApp({ request, response }: Exchange, pages: AppPages): void {
  if (!leadToApp(request, response, { pages, path: '/', headers: crossOrigin })) throw refuse('not_found');
}

/** What the peer's web app wants to know before it starts. */
function configOf({ reservedTopics, signUp, sendsMail, webPushKey }: AboutParts): Readonly<Record<string, unknown>> {
  const config = {
    base_url: '',
    app_root: '/',
    enable_login: true,
    require_login: true,
    enable_signup: signUp(),
    enable_payments: false,
    enable_calls: false,
    enable_emails: sendsMail(),
    enable_reset_password: false,
    enable_reservations: true,
    enable_web_push: webPushKey() !== '',
    billing_contact: '',
    web_push_public_key: webPushKey(),
    disallowed_topics: reservedTopics(),
  };
  return { ...config, config_hash: createHash('sha256').update(JSON.stringify(config)).digest('hex') };
}
