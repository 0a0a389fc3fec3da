import * as m from '#messages/uptime-problems';
import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { mayWrite } from '../route-access.ts';

/**
 * Protocols of proxies, named as in Uptime Kuma. `socks4` and `socks5` resolve names on this computer, `socks` and
 * `socks5h` on the proxy.
 */
export const proxyProtocols = ['http', 'https', 'socks', 'socks4', 'socks5', 'socks5h'] as const;

/** Proxy fields as clients write them; the names are those of Uptime Kuma, except `name`. */
export const ProxyFields = z.object({
  name: z.string().trim().max(150).default('').describe("If empty, the proxy's address is shown instead."),
  protocol: z.enum(proxyProtocols),
  host: z
    .string()
    .trim()
    .min(1, { error: m.fieldMissing })
    .max(255)
    .regex(/^(?:\[[0-9a-f:.]+\]|[^\s/?#@\\[\]]+)$/i, { error: m.proxyHostInvalid }),
  port: z.coerce.number().int().min(1, { error: m.portInvalid }).max(65_535, { error: m.portInvalid }),
  auth: z.coerce.boolean().default(false),
  username: z.string().max(255).nullish(),
  /** Undefined: a stored password is kept. */
  password: z.string().max(4096).nullish(),
  active: z.coerce.boolean().default(true).describe('Monitors of an inactive proxy connect directly.'),
  default: z.coerce
    .boolean()
    .default(false)
    .describe('Preselected for new monitors; at most one proxy is the default.'),
});
export type ProxyFields = z.infer<typeof ProxyFields>;

/** Stored proxy without its password. */
export const Proxy = ProxyFields.omit({ password: true })
  .extend({ id: z.int(), port: z.int(), username: z.string(), hasPassword: z.boolean() })
  .meta({ id: 'UptimeProxy' });
export type Proxy = z.infer<typeof Proxy>;

/** Returns the address of a proxy without credentials, such as `socks5://nas.lan:1080`. */
export function formatProxyAddress({ protocol, host, port }: Pick<Proxy, 'protocol' | 'host' | 'port'>): string {
  const isUnbracketedIPv6 = host.includes(':') && !host.startsWith('[');
  return `${protocol}://${isUnbracketedIPv6 ? `[${host}]` : host}:${String(port)}`;
}

const Done = z.object({ ok: z.literal(true) });
const write = mayWrite('uptime');

/** Routes for the proxies of monitors. */
export const proxiesApi = {
  list: defineRoute({
    method: 'GET',
    path: '/api/uptime/proxies',
    summary: 'Lists the proxies that monitors can use, without their passwords.',
    access: write,
    reply: z.object({ items: z.array(Proxy) }),
  }),
  add: defineRoute({
    method: 'POST',
    path: '/api/uptime/proxies',
    summary: 'Adds a proxy.',
    access: write,
    body: ProxyFields,
    reply: Proxy,
  }),
  replace: defineRoute({
    method: 'PUT',
    path: '/api/uptime/proxies/:id',
    summary: 'Replaces the fields of a proxy. Without `password`, the stored password is kept.',
    access: write,
    body: ProxyFields,
    reply: Proxy,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: '/api/uptime/proxies/:id',
    summary: 'Removes a proxy. Its monitors then connect directly.',
    access: write,
    reply: Done,
  }),
};
