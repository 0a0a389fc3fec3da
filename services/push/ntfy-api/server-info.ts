import { createHash } from 'node:crypto';
import type { AppPages } from '../../contracts/app-pages.ts';
import { redirectToAppPage } from '../../kit/http/redirect-to-app.ts';
import { refuse } from '../domain/refusals.ts';
import type { Statistics } from '../metrics/statistics.ts';
import { answer, answerValue, crossOrigin, type Exchange } from './exchange.ts';

/** Release of ntfy whose API this server implements, returned by `/v1/version`. */
const ntfyRelease = { version: '2.27.0', commit: 'homeport', date: '2026-08-04' };

export interface ServerInfoDependencies {
  readonly statistics: Statistics;
  readonly reservedTopics: () => readonly string[];
  /** Returns true when visitors may create an account. */
  readonly signUp: () => boolean;
  /** Returns true when messages can be forwarded as mail. */
  readonly sendsMail: () => boolean;
  /** Returns the public key for web push subscriptions; empty when web push is disabled. */
  readonly webPushKey: () => string;
  /** Returns false while messages cannot be stored. */
  readonly healthy: () => boolean;
  /** Location of Homeport's pages. */
  readonly pages: AppPages;
}

/** Routes about the server itself, by path. All are GET requests without a topic. */
export function serverInfoRoutes(
  dependencies: ServerInfoDependencies,
): ReadonlyMap<string, (exchange: Exchange) => void> {
  const health = ({ response }: Exchange): void => {
    const healthy = dependencies.healthy();
    answer(response, healthy ? 200 : 503, `${JSON.stringify({ healthy })}\n`);
  };

  return new Map<string, (exchange: Exchange) => void>([
    ['/health', health],
    ['/v1/health', health],
    [
      '/v1/stats',
      ({ response }) =>
        answerValue(response, { messages: dependencies.statistics.total, messages_rate: dependencies.statistics.rate }),
    ],
    [
      '/v1/info',
      ({ response }) =>
        answerValue(response, {
          name: 'Homeport push',
          api: 'ntfy',
          version: ntfyRelease.version,
          healthy: dependencies.healthy(),
        }),
    ],
    [
      '/v1/version',
      ({ response, identity }) => {
        if (identity?.role !== 'admin') throw refuse('unauthorized');
        answerValue(response, ntfyRelease);
      },
    ],
    [
      '/v1/config',
      ({ response }) => {
        response.setHeader('Cache-Control', 'no-cache');
        answerValue(response, buildConfig(dependencies));
      },
    ],
    [
      '/config.js',
      ({ response }) => {
        response.setHeader('Cache-Control', 'no-cache');
        const text = `// Generated server configuration\nvar config = ${JSON.stringify(buildConfig(dependencies), null, 2)};\n`;
        answer(response, 200, text, 'text/javascript');
      },
    ],
    ['/', (exchange) => redirectToApp(exchange, dependencies.pages)],
  ]);
}

/** Redirects to Homeport's pages, where ntfy serves its web app (`/` and `/<topic>`). */
export function redirectToApp({ request, response }: Exchange, pages: AppPages): void {
  if (!redirectToAppPage(request, response, { pages, path: '/', headers: crossOrigin })) throw refuse('not_found');
}

/** Returns the configuration that ntfy's web app loads at start. */
function buildConfig({
  reservedTopics,
  signUp,
  sendsMail,
  webPushKey,
}: ServerInfoDependencies): Readonly<Record<string, unknown>> {
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
