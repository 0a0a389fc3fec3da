import type { IncomingMessage } from 'node:http';
import type { Context } from '../../contracts/service.ts';
import { isAllowedRedirect } from './domain/redirects.ts';
import type { Call } from './http/auth-call.ts';
import type { AuthParts, AuthSettings } from './dependencies.ts';

export const authPrefix = '/auth/v1';

/**
 * What clients reach this part by. Mails carry it, and the word of a proxy about the host may be the word of whoever asked:
 * it counts only for names that the settings have.
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

/** Where links lead when nothing else is asked for: the setting, else where this service itself is reached. */
export function siteOf({ settings }: Pick<AuthParts, 'settings'>, { base }: Pick<Call, 'base'>): string {
  return settings.siteUrl === '' ? new URL(base).origin : settings.siteUrl;
}

/** Where a link leads: what was asked for where that is allowed, else the site, without a word. */
export function redirectOf(parts: Pick<AuthParts, 'settings'>, call: Call, asked = call.redirectTo): string {
  const site = siteOf(parts, call);
  const { redirectUrls } = parts.settings;
  const wishes = [asked, call.request.headers.referer ?? ''];
  return wishes.find((wish) => wish !== '' && isAllowedRedirect(wish, site, redirectUrls)) ?? site;
}
