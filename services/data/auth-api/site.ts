import type { IncomingMessage } from 'node:http';
import type { Context } from '../../contracts/service.ts';
import { isAllowedRedirect } from './domain/redirects.ts';
import type { Call } from './http/auth-call.ts';
import type { AuthParts, AuthSettings } from './dependencies.ts';

export const authPrefix = '/auth/v1';

/**
 * Returns the base URL for clients. Mails contain it, and a forwarded host may be chosen by the client, so it is used
 * only when the settings contain that host.
 */
export function baseOf(
  { publicUrl }: Pick<Context, 'publicUrl'>,
  { externalUrl, siteUrl, redirectUrls }: AuthSettings,
  request: IncomingMessage | undefined,
): string {
  if (externalUrl !== '') return `${externalUrl.replace(/\/+$/, '')}${authPrefix}`;
  const local = publicUrl() ?? 'http://127.0.0.1';
  const told = URL.parse((request === undefined ? undefined : publicUrl(request)) ?? local);
  const own = request?.headers.host;
  if (told === null || own === undefined || told.host === hostOf(`${told.protocol}//${own}`))
    return `${told?.origin ?? local}${authPrefix}`;
  const known = [siteUrl, ...redirectUrls].some((address) => hostOf(address) === told.host);
  return `${known ? told.origin : `${told.protocol}//${own}`}${authPrefix}`;
}

function hostOf(address: string): string | undefined {
  return URL.parse(address)?.host;
}

/** Returns the default target of links: the setting, otherwise the address of this service. */
export function siteOf({ settings }: Pick<AuthParts, 'settings'>, { base }: Pick<Call, 'base'>): string {
  return settings.siteUrl === '' ? new URL(base).origin : settings.siteUrl;
}

/** Returns the target of a link: the requested one when it is allowed, otherwise the site, without an error. */
export function redirectOf(parts: Pick<AuthParts, 'settings'>, call: Call, asked = call.redirectTo): string {
  const site = siteOf(parts, call);
  const { redirectUrls } = parts.settings;
  const wishes = [asked, call.request.headers.referer ?? ''];
  return wishes.find((wish) => wish !== '' && isAllowedRedirect(wish, site, redirectUrls)) ?? site;
}
