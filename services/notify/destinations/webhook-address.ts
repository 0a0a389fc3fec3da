import { withPath } from './url-fields.ts';
import { hostAndPort, type DestinationUrl } from './url.ts';

/** Parts of a destination URL that are extracted from a webhook address. */
interface UrlParts {
  readonly scheme: string;
  readonly host: string;
  readonly path?: readonly string[];
  /** Arguments of the address that became parts, or have no meaning in the URL. */
  readonly consumedArguments?: readonly string[];
  readonly addedArguments?: readonly (readonly [name: string, value: string])[];
  /** Port of a self-hosted service. */
  readonly port?: number | undefined;
}

type WebhookPattern = readonly [address: RegExp, read: (groups: readonly string[], url: DestinationUrl) => UrlParts];

function argument({ query }: DestinationUrl, name: string): string {
  return query.get(name) ?? '';
}

/** Patterns of webhook addresses, as the services show them, without the scheme. */
const webhookPatterns: readonly WebhookPattern[] = [
  [
    /^(?:www\.)?discord(?:app)?\.com\/api\/webhooks\/(\d+)\/([\w-]+)\/?$/i,
    ([id = '', token = '']) => ({ scheme: 'discord', host: id, path: [token] }),
  ],
  [
    /^hooks\.slack\.com\/services\/(\w+)\/(\w+)\/(\w+)\/?$/i,
    ([host = '', ...path]) => ({ scheme: 'slack', host, path }),
  ],
  [
    /^chat\.googleapis\.com\/v1\/spaces\/([\w-]+)\/messages\/?$/i,
    ([host = ''], url) => {
      return {
        scheme: 'gchat',
        host,
        path: [argument(url, 'key'), argument(url, 'token')],
        consumedArguments: ['key', 'token'],
      };
    },
  ],
  [
    /^[\w.-]+(?::\d+)?(\/powerautomate\/automations\/direct(?:\/cu\/(\d+))?)?\/workflows\/([\w-]+)\/triggers\/manual\/paths\/invoke\/?$/i,
    ([automate, route, id = ''], url) => ({
      scheme: 'workflow',
      host: url.host,
      port: url.port,
      path: [id, argument(url, 'sig')],
      consumedArguments: ['sig', 'sp', 'sv', 'api-version'],
      addedArguments: [
        ...(automate === undefined ? [] : [['pa', 'yes'] as const]),
        ...(route === undefined ? [] : [['route', route] as const]),
        ...(url.query.has('api-version') ? [['ver', argument(url, 'api-version')] as const] : []),
      ],
    }),
  ],
  [
    /^([\w-]+)\.webhook\.office\.com\/webhookb2\/([\w@-]+)\/IncomingWebhook\/([\w-]+)\/([\w-]+)(?:\/([\w-]+))?\/?$/i,
    ([host = '', ...path]) => ({ scheme: 'msteams', host, path: path.filter((each) => each !== undefined) }),
  ],
  [
    /^(?:api\.ciscospark|webexapis)\.com\/v1\/webhooks\/incoming\/([\w-]+)\/?$/i,
    ([host = '']) => ({ scheme: 'wxteams', host }),
  ],
  [/^open\.feishu\.cn\/open-apis\/bot\/v2\/hook\/([\w-]+)\/?$/i, ([host = '']) => ({ scheme: 'feishu', host })],
  [/^open\.larksuite\.com\/open-apis\/bot\/v2\/hook\/([\w-]+)\/?$/i, ([host = '']) => ({ scheme: 'lark', host })],
  [
    /^oapi\.dingtalk\.com\/robot\/send\/?$/i,
    (_parts, url) => ({ scheme: 'dingtalk', host: argument(url, 'access_token'), consumedArguments: ['access_token'] }),
  ],
  [
    /^qyapi\.weixin\.qq\.com\/cgi-bin\/webhook\/send\/?$/i,
    (_parts, url) => ({ scheme: 'wecombot', host: argument(url, 'key'), consumedArguments: ['key'] }),
  ],
  [/^ntfy\.sh\/([\w-]{1,64})\/?$/i, ([host = '']) => ({ scheme: 'ntfys', host })],
];

/** Converts the web address of a webhook to the URL of its kind; other URLs are unchanged. */
export function parseWebhookAddress(url: DestinationUrl): DestinationUrl {
  if (!/^https?$/.test(url.scheme)) return url;
  const address = `${hostAndPort(url)}${url.rawPath}`;
  for (const [pattern, parse] of webhookPatterns) {
    const match = pattern.exec(address);
    if (match === null) continue;
    const [, ...groups] = match;
    const { scheme, host, path = [], consumedArguments = [], addedArguments = [], port } = parse(groups, url);
    const query = new Map([...[...url.query].filter(([name]) => !consumedArguments.includes(name)), ...addedArguments]);
    return withPath({ ...url, scheme, host, port, query, user: undefined, password: undefined }, path);
  }
  return url;
}
